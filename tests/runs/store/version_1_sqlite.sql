-- A store of layout version 1, as the first release wrote it.
BEGIN TRANSACTION;
CREATE TABLE benchmark (
	id VARCHAR(32) NOT NULL, 
	name TEXT NOT NULL, 
	version TEXT NOT NULL, 
	description TEXT NOT NULL, 
	checkpoint TEXT NOT NULL, 
	question_count INTEGER NOT NULL, 
	finished_count INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	created TEXT NOT NULL, 
	modified TEXT NOT NULL, 
	deleted BOOLEAN NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "benchmark" VALUES('398db0112c4845f880778b1f7e179856','Elements','0.1.0','','{
  "@context": {
    "@version": 1.1,
    "@vocab": "https://schema.org/",
    "karenina": "urn:karenina:vocab:",
    "dataFeedElement": {
      "@id": "dataFeedElement",
      "@container": "@set"
    },
    "item": {
      "@id": "item",
      "@type": "@id"
    },
    "acceptedAnswer": {
      "@id": "acceptedAnswer",
      "@type": "@id"
    },
    "rating": {
      "@id": "contentRating",
      "@container": "@set"
    },
    "additionalProperty": {
      "@id": "additionalProperty",
      "@container": "@set"
    },
    "hasPart": {
      "@id": "hasPart",
      "@container": "@set"
    },
    "keywords": {
      "@id": "keywords",
      "@container": "@set"
    }
  },
  "@type": "DataFeed",
  "name": "Elements",
  "version": "0.1.0",
  "creator": "Karenina Benchmarking System",
  "dateCreated": "2026-11-22T03:58:00.111231+00:00",
  "dateModified": "2026-11-22T03:58:00.111443+00:00",
  "dataFeedElement": [
    {
      "@type": "DataFeedItem",
      "@id": "q1",
      "dateCreated": "2026-11-22T03:58:00.111297+00:00",
      "dateModified": "2026-11-22T03:58:00.111297+00:00",
      "item": {
        "@type": "Question",
        "text": "Question 1?",
        "acceptedAnswer": {
          "@type": "Answer",
          "text": "Answer 1"
        },
        "hasPart": {
          "@type": "SoftwareSourceCode",
          "name": "Question 1?... Answer Template",
          "text": "",
          "programmingLanguage": "Python"
        },
        "additionalProperty": [
          {
            "@type": "PropertyValue",
            "name": "finished",
            "value": true
          }
        ]
      }
    },
    {
      "@type": "DataFeedItem",
      "@id": "q2",
      "dateCreated": "2026-11-22T03:58:00.111424+00:00",
      "dateModified": "2026-11-22T03:58:00.111424+00:00",
      "item": {
        "@type": "Question",
        "text": "Question 2?",
        "acceptedAnswer": {
          "@type": "Answer",
          "text": "Answer 2"
        },
        "hasPart": {
          "@type": "SoftwareSourceCode",
          "name": "Question 2?... Answer Template",
          "text": "",
          "programmingLanguage": "Python"
        },
        "additionalProperty": [
          {
            "@type": "PropertyValue",
            "name": "finished",
            "value": true
          }
        ]
      }
    }
  ],
  "additionalProperty": [
    {
      "@type": "PropertyValue",
      "name": "benchmark_format_version",
      "value": "3.0.0-jsonld"
    }
  ]
}
',2,2,1,'2026-11-22T03:58:00.112281+00:00','2026-11-22T03:58:00.111957+00:00',0);
CREATE TABLE call (
	"key" VARCHAR(64) NOT NULL, 
	purpose VARCHAR(32) NOT NULL, 
	model TEXT NOT NULL, 
	question_id TEXT NOT NULL, 
	request TEXT NOT NULL, 
	reply TEXT NOT NULL, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	cost FLOAT, 
	created TEXT NOT NULL, 
	PRIMARY KEY ("key")
)
 WITHOUT ROWID

;
INSERT INTO "call" VALUES('db7ee429e832af486b1c1cfaa376894a39a00bb1042ca5581af4bcf6b6a28ef6','answer','lab/model-1','q1','{"config":{"id":"lab/model-1","model_provider":null,"model_name":"lab/model-1","interface":"litellm","temperature":0.1,"max_tokens":16384,"system_prompt":null,"max_retries":2,"endpoint_base_url":null,"api_key_env":null,"request_timeout":null,"extra_kwargs":{}},"request":{"purpose":"answer","messages":[{"role":"user","content":"Question q1?"}],"subject":{"question_id":"q1","question":"Question q1?","answering_model":"lab/model-1","replicate":1,"part":"","response":""},"schema":null,"timeout":120.0}}','{"text":"It is 42.","finish_reason":"stop","usage":{"input_tokens":null,"output_tokens":null,"cost":0.5,"calls":0,"cached_calls":0},"source":"provider","seconds":0.0,"provenance":{}}',NULL,NULL,0.5,'2026-11-22T03:58:00.134145+00:00');
CREATE TABLE field (
	run_id VARCHAR(32) NOT NULL, 
	name TEXT NOT NULL, 
	answering_model TEXT NOT NULL, 
	question_id TEXT NOT NULL, 
	parsing_model TEXT NOT NULL, 
	replicate INTEGER NOT NULL, 
	result BOOLEAN, 
	PRIMARY KEY (run_id, name, answering_model, question_id, parsing_model, replicate), 
	FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "field" VALUES('747532b1d52e','unit','lab/model-1','q1','lab/judge-1',1,NULL);
INSERT INTO "field" VALUES('747532b1d52e','value','lab/model-1','q1','lab/judge-1',1,1);
CREATE TABLE meta (
	schema_version INTEGER NOT NULL
);
INSERT INTO "meta" VALUES(1);
CREATE TABLE payload (
	id INTEGER NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES result (id) ON DELETE CASCADE
);
INSERT INTO "payload" VALUES(1,'{"question":{"id":"q1","question":"Question q1?","raw_answer":"42","keywords":[]},"answering_model":"lab/model-1","parsing_model":"lab/judge-1","replicate":1,"status":"completed","verdict":"pass","failure":null,"answer":{"text":"It is 42.","finish_reason":"stop","truncated":false,"call":{"purpose":"answer","part":"","model":"lab/model-1","key":"abababababababababababababababababababababababababababababababab","source":"provider","messages":[{"role":"user","content":"It is 42."}],"schema_sent":null,"reply":"It is 42.","finish_reason":null,"usage":{"input_tokens":10,"output_tokens":5,"cost":0.25,"calls":1,"cached_calls":0},"seconds":0.0,"provenance":{}}},"template":{"template_id":"t1","style":"declarative","parsed":null,"expected":null,"verify_result":true,"verify_granular_result":0.5,"fields":[{"name":"value","expected":42,"extracted":42,"result":true,"rule":{"type":"NumericExact"},"weight":1.0,"is_trace":false,"steps":[],"reason":"","similarity":null},{"name":"unit","expected":"m","extracted":null,"result":null,"rule":null,"weight":1.0,"is_trace":false,"steps":[],"reason":"It is 42.","similarity":null}],"composition_strategy":null,"calls":[]},"similarity":null,"rubric":{"performed":true,"scores":{"Clarity":4,"Polite":true,"Tone":1},"labels":{"Tone":"dry"},"regex":{"Cites":false},"metrics":{"Organs":{"precision":0.5,"recall":1.0}},"confusion":{"Organs":{"tp":["heart"],"fp":["It is 42."],"tn":[],"fn":[],"not_mentioned":[],"undefined":["f1"]}},"reasons":{},"errors":{"Depth":"The judge gave no value."},"provenance":{},"calls":[]},"abstention":null,"sufficiency":null,"stages":[{"name":"verify_template","state":"ran","note":"","seconds":0.01}],"warnings":[],"usage":{"input_tokens":30,"output_tokens":9,"cost":0.75,"calls":2,"cached_calls":0},"seconds":1.5,"timestamp":"2026-11-22T03:58:00.119202+00:00","run_name":null}');
INSERT INTO "payload" VALUES(2,'{"question":{"id":"q2","question":"Question q2?","raw_answer":"42","keywords":[]},"answering_model":"lab/model-1","parsing_model":"lab/judge-1","replicate":1,"status":"failed","verdict":"not_evaluated","failure":{"category":"timeout","stage":"generate_answer","reason":"no reason","line":null},"answer":null,"template":null,"similarity":null,"rubric":{"performed":false,"scores":{},"labels":{},"regex":{},"metrics":{},"confusion":{},"reasons":{},"errors":{},"provenance":{},"calls":[]},"abstention":null,"sufficiency":null,"stages":[],"warnings":[],"usage":{"input_tokens":null,"output_tokens":null,"cost":null,"calls":0,"cached_calls":0},"seconds":0.0,"timestamp":"2026-11-22T03:58:00.119253+00:00","run_name":null}');
CREATE TABLE result (
	id INTEGER NOT NULL, 
	run_id VARCHAR(32) NOT NULL, 
	result_id VARCHAR(16) NOT NULL, 
	position BIGINT NOT NULL, 
	question_id TEXT NOT NULL, 
	answering_model TEXT NOT NULL, 
	parsing_model TEXT NOT NULL, 
	replicate INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	verdict VARCHAR(16) NOT NULL, 
	failure_category VARCHAR(32), 
	failure_stage VARCHAR(48), 
	granular FLOAT, 
	seconds FLOAT NOT NULL, 
	cost FLOAT, 
	answer_cost FLOAT, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	timestamp TEXT NOT NULL, 
	question TEXT NOT NULL, 
	keywords JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (run_id, question_id, answering_model, parsing_model, replicate), 
	UNIQUE (run_id, result_id), 
	FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);
INSERT INTO "result" VALUES(1,'747532b1d52e','ab1ce6eb79e05864',1,'q1','lab/model-1','lab/judge-1',1,'completed','pass',NULL,NULL,0.5,1.5,0.75,0.25,30,9,'2026-11-22T03:58:00.119202+00:00','Question q1?','[]');
INSERT INTO "result" VALUES(2,'747532b1d52e','8fad70f0786848e4',1000000000001,'q2','lab/model-1','lab/judge-1',1,'failed','not_evaluated','timeout','generate_answer',NULL,0.0,NULL,NULL,NULL,NULL,'2026-11-22T03:58:00.119253+00:00','Question q2?','[]');
CREATE TABLE run (
	id VARCHAR(32) NOT NULL, 
	name TEXT NOT NULL, 
	benchmark_id VARCHAR(32), 
	benchmark_name TEXT NOT NULL, 
	snapshot VARCHAR(64) NOT NULL, 
	config JSON NOT NULL, 
	config_hash VARCHAR(64) NOT NULL, 
	question_ids JSON NOT NULL, 
	skipped JSON NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	total INTEGER NOT NULL, 
	done INTEGER NOT NULL, 
	passed INTEGER NOT NULL, 
	failed INTEGER NOT NULL, 
	not_evaluated INTEGER NOT NULL, 
	errors INTEGER NOT NULL, 
	calls INTEGER NOT NULL, 
	cached_calls INTEGER NOT NULL, 
	cost FLOAT, 
	seconds FLOAT NOT NULL, 
	created TEXT NOT NULL, 
	started TEXT, 
	finished TEXT, 
	parent_run VARCHAR(32), 
	note TEXT NOT NULL, 
	deleted BOOLEAN NOT NULL, 
	owner TEXT, 
	beat FLOAT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(snapshot) REFERENCES snapshot (hash), 
	FOREIGN KEY(parent_run) REFERENCES run (id) ON DELETE SET NULL
);
INSERT INTO "run" VALUES('747532b1d52e','First','398db0112c4845f880778b1f7e179856','Elements','d9b1e24287ac2fb94f4aac046c4f480280f4f2b2cf5fc74de89471c756e89cc4','{"answering_models":[{"id":"lab/model-1","model_provider":null,"model_name":"lab/model-1","interface":"litellm","temperature":0.1,"max_tokens":16384,"system_prompt":null,"max_retries":2,"endpoint_base_url":null,"api_key_env":null,"request_timeout":null,"extra_kwargs":{}}],"parsing_models":[{"id":"lab/judge-1","model_provider":null,"model_name":"lab/judge-1","interface":"litellm","temperature":0.1,"max_tokens":16384,"system_prompt":null,"max_retries":2,"endpoint_base_url":null,"api_key_env":null,"request_timeout":null,"extra_kwargs":{}}],"replicate_count":1,"evaluation_mode":"auto","rubric_trait_names":null,"rubric_evaluation_strategy":"batch","abstention_enabled":false,"sufficiency_enabled":false,"include_extraction_hints":true,"embedding_check_enabled":false,"embedding_check_model":"all-MiniLM-L6-v2","embedding_check_threshold":0.85,"max_concurrent_requests":8,"request_timeout":120.0,"max_attempts":4,"max_cost":null,"workspace_copy":true,"few_shot_config":null,"prompt_config":null}','6e5b17ddf468a6b7d7951922b07302bf5bd69f804b51c0be3c8f36710b1bd58b','["q1","q2"]','[]','completed',2,2,1,0,1,1,0,0,NULL,0.0,'2026-11-22T03:58:00.114710+00:00','2026-11-22T03:58:00.130374+00:00','2026-11-22T03:58:00.132429+00:00',NULL,'',0,NULL,NULL);
CREATE TABLE score (
	run_id VARCHAR(32) NOT NULL, 
	trait TEXT NOT NULL, 
	answering_model TEXT NOT NULL, 
	question_id TEXT NOT NULL, 
	parsing_model TEXT NOT NULL, 
	replicate INTEGER NOT NULL, 
	metric VARCHAR(32) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	value FLOAT, 
	label TEXT, 
	PRIMARY KEY (run_id, trait, answering_model, question_id, parsing_model, replicate, metric), 
	FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "score" VALUES('747532b1d52e','Cites','lab/model-1','q1','lab/judge-1',1,'','regex',0.0,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Clarity','lab/model-1','q1','lab/judge-1',1,'','score',4.0,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Depth','lab/model-1','q1','lab/judge-1',1,'','error',NULL,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Organs','lab/model-1','q1','lab/judge-1',1,'f1','metric',NULL,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Organs','lab/model-1','q1','lab/judge-1',1,'precision','metric',0.5,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Organs','lab/model-1','q1','lab/judge-1',1,'recall','metric',1.0,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Polite','lab/model-1','q1','lab/judge-1',1,'','binary',1.0,NULL);
INSERT INTO "score" VALUES('747532b1d52e','Tone','lab/model-1','q1','lab/judge-1',1,'','literal',1.0,'dry');
CREATE TABLE setting (
	"key" VARCHAR(128) NOT NULL, 
	value JSON NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "setting" VALUES('preset/quick','{"replicate_count":2}');
CREATE TABLE snapshot (
	hash VARCHAR(64) NOT NULL, 
	question_ids JSON NOT NULL, 
	checkpoint TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "snapshot" VALUES('d9b1e24287ac2fb94f4aac046c4f480280f4f2b2cf5fc74de89471c756e89cc4','["q1","q2"]','{
  "@context": {
    "@version": 1.1,
    "@vocab": "https://schema.org/",
    "karenina": "urn:karenina:vocab:",
    "dataFeedElement": {
      "@id": "dataFeedElement",
      "@container": "@set"
    },
    "item": {
      "@id": "item",
      "@type": "@id"
    },
    "acceptedAnswer": {
      "@id": "acceptedAnswer",
      "@type": "@id"
    },
    "rating": {
      "@id": "contentRating",
      "@container": "@set"
    },
    "additionalProperty": {
      "@id": "additionalProperty",
      "@container": "@set"
    },
    "hasPart": {
      "@id": "hasPart",
      "@container": "@set"
    },
    "keywords": {
      "@id": "keywords",
      "@container": "@set"
    }
  },
  "@type": "DataFeed",
  "name": "Elements",
  "version": "0.1.0",
  "creator": "Karenina Benchmarking System",
  "dateCreated": "2026-11-22T03:58:00.111231+00:00",
  "dateModified": "2026-11-22T03:58:00.111443+00:00",
  "dataFeedElement": [
    {
      "@type": "DataFeedItem",
      "@id": "q1",
      "dateCreated": "2026-11-22T03:58:00.111297+00:00",
      "dateModified": "2026-11-22T03:58:00.111297+00:00",
      "item": {
        "@type": "Question",
        "text": "Question 1?",
        "acceptedAnswer": {
          "@type": "Answer",
          "text": "Answer 1"
        },
        "hasPart": {
          "@type": "SoftwareSourceCode",
          "name": "Question 1?... Answer Template",
          "text": "",
          "programmingLanguage": "Python"
        },
        "additionalProperty": [
          {
            "@type": "PropertyValue",
            "name": "finished",
            "value": true
          }
        ]
      }
    },
    {
      "@type": "DataFeedItem",
      "@id": "q2",
      "dateCreated": "2026-11-22T03:58:00.111424+00:00",
      "dateModified": "2026-11-22T03:58:00.111424+00:00",
      "item": {
        "@type": "Question",
        "text": "Question 2?",
        "acceptedAnswer": {
          "@type": "Answer",
          "text": "Answer 2"
        },
        "hasPart": {
          "@type": "SoftwareSourceCode",
          "name": "Question 2?... Answer Template",
          "text": "",
          "programmingLanguage": "Python"
        },
        "additionalProperty": [
          {
            "@type": "PropertyValue",
            "name": "finished",
            "value": true
          }
        ]
      }
    }
  ],
  "additionalProperty": [
    {
      "@type": "PropertyValue",
      "name": "benchmark_format_version",
      "value": "3.0.0-jsonld"
    }
  ]
}
');
CREATE INDEX run_by_benchmark ON run (benchmark_id);
CREATE INDEX result_in_order ON result (run_id, position);
CREATE INDEX result_outcome ON result (run_id, answering_model, parsing_model, verdict, status, failure_category);
COMMIT;
