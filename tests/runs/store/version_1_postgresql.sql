-- A store of layout version 1, as the first release wrote it.
CREATE TABLE public.benchmark (
    id character varying(32) NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    description text NOT NULL,
    checkpoint text NOT NULL,
    question_count integer NOT NULL,
    finished_count integer NOT NULL,
    revision integer NOT NULL,
    created text NOT NULL,
    modified text NOT NULL,
    deleted boolean NOT NULL
);
CREATE TABLE public.call (
    key character varying(64) NOT NULL,
    purpose character varying(32) NOT NULL,
    model text NOT NULL,
    question_id text NOT NULL,
    request text NOT NULL,
    reply text NOT NULL,
    input_tokens integer,
    output_tokens integer,
    cost double precision,
    created text NOT NULL
);
CREATE TABLE public.field (
    run_id character varying(32) NOT NULL,
    name text NOT NULL,
    answering_model text NOT NULL,
    question_id text NOT NULL,
    parsing_model text NOT NULL,
    replicate integer NOT NULL,
    result boolean
);
CREATE TABLE public.meta (
    schema_version integer NOT NULL
);
CREATE TABLE public.payload (
    id bigint NOT NULL,
    json text NOT NULL
);
CREATE TABLE public.result (
    id bigint NOT NULL,
    run_id character varying(32) NOT NULL,
    result_id character varying(16) NOT NULL,
    "position" bigint NOT NULL,
    question_id text NOT NULL,
    answering_model text NOT NULL,
    parsing_model text NOT NULL,
    replicate integer NOT NULL,
    status character varying(16) NOT NULL,
    verdict character varying(16) NOT NULL,
    failure_category character varying(32),
    failure_stage character varying(48),
    granular double precision,
    seconds double precision NOT NULL,
    cost double precision,
    answer_cost double precision,
    input_tokens integer,
    output_tokens integer,
    "timestamp" text NOT NULL,
    question text NOT NULL,
    keywords json NOT NULL
);
CREATE SEQUENCE public.result_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.result_id_seq OWNED BY public.result.id;
CREATE TABLE public.run (
    id character varying(32) NOT NULL,
    name text NOT NULL,
    benchmark_id character varying(32),
    benchmark_name text NOT NULL,
    snapshot character varying(64) NOT NULL,
    config json NOT NULL,
    config_hash character varying(64) NOT NULL,
    question_ids json NOT NULL,
    skipped json NOT NULL,
    status character varying(16) NOT NULL,
    total integer NOT NULL,
    done integer NOT NULL,
    passed integer NOT NULL,
    failed integer NOT NULL,
    not_evaluated integer NOT NULL,
    errors integer NOT NULL,
    calls integer NOT NULL,
    cached_calls integer NOT NULL,
    cost double precision,
    seconds double precision NOT NULL,
    created text NOT NULL,
    started text,
    finished text,
    parent_run character varying(32),
    note text NOT NULL,
    deleted boolean NOT NULL,
    owner text,
    beat double precision
);
CREATE TABLE public.score (
    run_id character varying(32) NOT NULL,
    trait text NOT NULL,
    answering_model text NOT NULL,
    question_id text NOT NULL,
    parsing_model text NOT NULL,
    replicate integer NOT NULL,
    metric character varying(32) NOT NULL,
    kind character varying(16) NOT NULL,
    value double precision,
    label text
);
CREATE TABLE public.setting (
    key character varying(128) NOT NULL,
    value json NOT NULL
);
CREATE TABLE public.snapshot (
    hash character varying(64) NOT NULL,
    question_ids json NOT NULL,
    checkpoint text NOT NULL
);
ALTER TABLE ONLY public.result ALTER COLUMN id SET DEFAULT nextval('public.result_id_seq'::regclass);
INSERT INTO public.benchmark VALUES ('4a669bbd57984718a1ff965e2b2b4bc6', 'Elements', '0.1.0', '', '{
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
  "dateCreated": "2026-11-22T03:58:01.543468+00:00",
  "dateModified": "2026-11-22T03:58:01.543729+00:00",
  "dataFeedElement": [
    {
      "@type": "DataFeedItem",
      "@id": "q1",
      "dateCreated": "2026-11-22T03:58:01.543547+00:00",
      "dateModified": "2026-11-22T03:58:01.543547+00:00",
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
      "dateCreated": "2026-11-22T03:58:01.543688+00:00",
      "dateModified": "2026-11-22T03:58:01.543688+00:00",
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
', 2, 2, 1, '2026-11-22T03:58:01.544756+00:00', '2026-11-22T03:58:01.544127+00:00', false);
INSERT INTO public.call VALUES ('db7ee429e832af486b1c1cfaa376894a39a00bb1042ca5581af4bcf6b6a28ef6', 'answer', 'lab/model-1', 'q1', '{"config":{"id":"lab/model-1","model_provider":null,"model_name":"lab/model-1","interface":"litellm","temperature":0.1,"max_tokens":16384,"system_prompt":null,"max_retries":2,"endpoint_base_url":null,"api_key_env":null,"request_timeout":null,"extra_kwargs":{}},"request":{"purpose":"answer","messages":[{"role":"user","content":"Question q1?"}],"subject":{"question_id":"q1","question":"Question q1?","answering_model":"lab/model-1","replicate":1,"part":"","response":""},"schema":null,"timeout":120.0}}', '{"text":"It is 42.","finish_reason":"stop","usage":{"input_tokens":null,"output_tokens":null,"cost":0.5,"calls":0,"cached_calls":0},"source":"provider","seconds":0.0,"provenance":{}}', NULL, NULL, 0.5, '2026-11-22T03:58:01.603183+00:00');
INSERT INTO public.field VALUES ('83c2646133fb', 'value', 'lab/model-1', 'q1', 'lab/judge-1', 1, true);
INSERT INTO public.field VALUES ('83c2646133fb', 'unit', 'lab/model-1', 'q1', 'lab/judge-1', 1, NULL);
INSERT INTO public.meta VALUES (1);
INSERT INTO public.payload VALUES (1, '{"question":{"id":"q1","question":"Question q1?","raw_answer":"42","keywords":[]},"answering_model":"lab/model-1","parsing_model":"lab/judge-1","replicate":1,"status":"completed","verdict":"pass","failure":null,"answer":{"text":"It is 42.","finish_reason":"stop","truncated":false,"call":{"purpose":"answer","part":"","model":"lab/model-1","key":"abababababababababababababababababababababababababababababababab","source":"provider","messages":[{"role":"user","content":"It is 42."}],"schema_sent":null,"reply":"It is 42.","finish_reason":null,"usage":{"input_tokens":10,"output_tokens":5,"cost":0.25,"calls":1,"cached_calls":0},"seconds":0.0,"provenance":{}}},"template":{"template_id":"t1","style":"declarative","parsed":null,"expected":null,"verify_result":true,"verify_granular_result":0.5,"fields":[{"name":"value","expected":42,"extracted":42,"result":true,"rule":{"type":"NumericExact"},"weight":1.0,"is_trace":false,"steps":[],"reason":"","similarity":null},{"name":"unit","expected":"m","extracted":null,"result":null,"rule":null,"weight":1.0,"is_trace":false,"steps":[],"reason":"It is 42.","similarity":null}],"composition_strategy":null,"calls":[]},"similarity":null,"rubric":{"performed":true,"scores":{"Clarity":4,"Polite":true,"Tone":1},"labels":{"Tone":"dry"},"regex":{"Cites":false},"metrics":{"Organs":{"precision":0.5,"recall":1.0}},"confusion":{"Organs":{"tp":["heart"],"fp":["It is 42."],"tn":[],"fn":[],"not_mentioned":[],"undefined":["f1"]}},"reasons":{},"errors":{"Depth":"The judge gave no value."},"provenance":{},"calls":[]},"abstention":null,"sufficiency":null,"stages":[{"name":"verify_template","state":"ran","note":"","seconds":0.01}],"warnings":[],"usage":{"input_tokens":30,"output_tokens":9,"cost":0.75,"calls":2,"cached_calls":0},"seconds":1.5,"timestamp":"2026-11-22T03:58:01.556548+00:00","run_name":null}');
INSERT INTO public.payload VALUES (2, '{"question":{"id":"q2","question":"Question q2?","raw_answer":"42","keywords":[]},"answering_model":"lab/model-1","parsing_model":"lab/judge-1","replicate":1,"status":"failed","verdict":"not_evaluated","failure":{"category":"timeout","stage":"generate_answer","reason":"no reason","line":null},"answer":null,"template":null,"similarity":null,"rubric":{"performed":false,"scores":{},"labels":{},"regex":{},"metrics":{},"confusion":{},"reasons":{},"errors":{},"provenance":{},"calls":[]},"abstention":null,"sufficiency":null,"stages":[],"warnings":[],"usage":{"input_tokens":null,"output_tokens":null,"cost":null,"calls":0,"cached_calls":0},"seconds":0.0,"timestamp":"2026-11-22T03:58:01.556609+00:00","run_name":null}');
INSERT INTO public.result VALUES (1, '83c2646133fb', 'ab1ce6eb79e05864', 1, 'q1', 'lab/model-1', 'lab/judge-1', 1, 'completed', 'pass', NULL, NULL, 0.5, 1.5, 0.75, 0.25, 30, 9, '2026-11-22T03:58:01.556548+00:00', 'Question q1?', '[]');
INSERT INTO public.result VALUES (2, '83c2646133fb', '8fad70f0786848e4', 1000000000001, 'q2', 'lab/model-1', 'lab/judge-1', 1, 'failed', 'not_evaluated', 'timeout', 'generate_answer', NULL, 0, NULL, NULL, NULL, NULL, '2026-11-22T03:58:01.556609+00:00', 'Question q2?', '[]');
INSERT INTO public.run VALUES ('83c2646133fb', 'First', '4a669bbd57984718a1ff965e2b2b4bc6', 'Elements', 'be34e6dc35e538b8796c461e5f374f21a35b9e561cb3c583fde218564e788f04', '{"answering_models":[{"id":"lab/model-1","model_provider":null,"model_name":"lab/model-1","interface":"litellm","temperature":0.1,"max_tokens":16384,"system_prompt":null,"max_retries":2,"endpoint_base_url":null,"api_key_env":null,"request_timeout":null,"extra_kwargs":{}}],"parsing_models":[{"id":"lab/judge-1","model_provider":null,"model_name":"lab/judge-1","interface":"litellm","temperature":0.1,"max_tokens":16384,"system_prompt":null,"max_retries":2,"endpoint_base_url":null,"api_key_env":null,"request_timeout":null,"extra_kwargs":{}}],"replicate_count":1,"evaluation_mode":"auto","rubric_trait_names":null,"rubric_evaluation_strategy":"batch","abstention_enabled":false,"sufficiency_enabled":false,"include_extraction_hints":true,"embedding_check_enabled":false,"embedding_check_model":"all-MiniLM-L6-v2","embedding_check_threshold":0.85,"max_concurrent_requests":8,"request_timeout":120.0,"max_attempts":4,"max_cost":null,"workspace_copy":true,"few_shot_config":null,"prompt_config":null}', '6e5b17ddf468a6b7d7951922b07302bf5bd69f804b51c0be3c8f36710b1bd58b', '["q1","q2"]', '[]', 'completed', 2, 2, 1, 0, 1, 1, 0, 0, NULL, 0, '2026-11-22T03:58:01.548049+00:00', '2026-11-22T03:58:01.595150+00:00', '2026-11-22T03:58:01.600147+00:00', NULL, '', false, NULL, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Depth', 'lab/model-1', 'q1', 'lab/judge-1', 1, '', 'error', NULL, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Clarity', 'lab/model-1', 'q1', 'lab/judge-1', 1, '', 'score', 4, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Polite', 'lab/model-1', 'q1', 'lab/judge-1', 1, '', 'binary', 1, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Tone', 'lab/model-1', 'q1', 'lab/judge-1', 1, '', 'literal', 1, 'dry');
INSERT INTO public.score VALUES ('83c2646133fb', 'Cites', 'lab/model-1', 'q1', 'lab/judge-1', 1, '', 'regex', 0, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Organs', 'lab/model-1', 'q1', 'lab/judge-1', 1, 'precision', 'metric', 0.5, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Organs', 'lab/model-1', 'q1', 'lab/judge-1', 1, 'recall', 'metric', 1, NULL);
INSERT INTO public.score VALUES ('83c2646133fb', 'Organs', 'lab/model-1', 'q1', 'lab/judge-1', 1, 'f1', 'metric', NULL, NULL);
INSERT INTO public.setting VALUES ('preset/quick', '{"replicate_count":2}');
INSERT INTO public.snapshot VALUES ('be34e6dc35e538b8796c461e5f374f21a35b9e561cb3c583fde218564e788f04', '["q1","q2"]', '{
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
  "dateCreated": "2026-11-22T03:58:01.543468+00:00",
  "dateModified": "2026-11-22T03:58:01.543729+00:00",
  "dataFeedElement": [
    {
      "@type": "DataFeedItem",
      "@id": "q1",
      "dateCreated": "2026-11-22T03:58:01.543547+00:00",
      "dateModified": "2026-11-22T03:58:01.543547+00:00",
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
      "dateCreated": "2026-11-22T03:58:01.543688+00:00",
      "dateModified": "2026-11-22T03:58:01.543688+00:00",
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
SELECT pg_catalog.setval('public.result_id_seq', 2, true);
ALTER TABLE ONLY public.benchmark
    ADD CONSTRAINT benchmark_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.call
    ADD CONSTRAINT call_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.field
    ADD CONSTRAINT field_pkey PRIMARY KEY (run_id, name, answering_model, question_id, parsing_model, replicate);
ALTER TABLE ONLY public.payload
    ADD CONSTRAINT payload_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.result
    ADD CONSTRAINT result_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.result
    ADD CONSTRAINT result_run_id_question_id_answering_model_parsing_model_rep_key UNIQUE (run_id, question_id, answering_model, parsing_model, replicate);
ALTER TABLE ONLY public.result
    ADD CONSTRAINT result_run_id_result_id_key UNIQUE (run_id, result_id);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.score
    ADD CONSTRAINT score_pkey PRIMARY KEY (run_id, trait, answering_model, question_id, parsing_model, replicate, metric);
ALTER TABLE ONLY public.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.snapshot
    ADD CONSTRAINT snapshot_pkey PRIMARY KEY (hash);
CREATE INDEX result_in_order ON public.result USING btree (run_id, "position");
CREATE INDEX result_outcome ON public.result USING btree (run_id, answering_model, parsing_model, verdict, status, failure_category);
CREATE INDEX run_by_benchmark ON public.run USING btree (benchmark_id);
ALTER TABLE ONLY public.field
    ADD CONSTRAINT field_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payload
    ADD CONSTRAINT payload_id_fkey FOREIGN KEY (id) REFERENCES public.result(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.result
    ADD CONSTRAINT result_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_parent_run_fkey FOREIGN KEY (parent_run) REFERENCES public.run(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_snapshot_fkey FOREIGN KEY (snapshot) REFERENCES public.snapshot(hash);
ALTER TABLE ONLY public.score
    ADD CONSTRAINT score_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id) ON DELETE CASCADE;
