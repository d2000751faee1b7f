"""Whether Swagger UI is installed, for tests of the reference page."""

from engine.console.reference import SWAGGER_UI

IS_INSTALLED = SWAGGER_UI.is_dir()
