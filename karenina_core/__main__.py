"""`python -m karenina_core` is the command `karenina`."""

import sys

from karenina_core.cli import main

sys.exit(main())
