"""Makes `python -m xlaunch` the same as `xlaunch`."""

import sys

from xlaunch.main import main

sys.exit(main())
