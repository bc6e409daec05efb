"""One life of a run: opens the store, resumes the run, and says what it has reported as done until it is killed.

    python -m tests.faults.killed_run STORE RUN

Lines: `ready` before anything is asked, then `done N QUESTION...` at every change, at last `ended STATUS`.
"""

from __future__ import annotations

import re
import sys

from karenina_core.runs import Engine, Store


def main(url: str, run_id: str) -> None:
    with Store.open(url) as store, Engine(store) as runner:
        print("ready", flush=True)
        runner.resume(run_id)
        reported = -1
        while True:
            seen = runner.wait(run_id, 0.002)
            if seen.done != reported:
                reported = seen.done
                print("done", reported, *re.findall(r"island (\d+)\?", " ".join(seen.recent)), flush=True)
            if not seen.active:
                print("ended", seen.status, flush=True)
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
