from vera.api import BundleError as BundleError
from vera.api import CheckReport as CheckReport
from vera.api import ConfigError as ConfigError
from vera.api import LogError as LogError
from vera.api import ModelError as ModelError
from vera.api import NoSession as NoSession
from vera.api import PromptError as PromptError
from vera.api import ReplayReport as ReplayReport
from vera.api import RequestError as RequestError
from vera.api import Researched as Researched
from vera.api import SessionError as SessionError
from vera.api import Settings as Settings
from vera.api import SetupError as SetupError
from vera.api import StoreError as StoreError
from vera.api import TaskTooLong as TaskTooLong
from vera.api import Verified as Verified
from vera.api import check as check
from vera.api import check_async as check_async
from vera.api import replay as replay
from vera.api import replay_async as replay_async
from vera.api import research as research
from vera.api import research_async as research_async
from vera.api import verify as verify
from vera.api import verify_async as verify_async

__version__: str
