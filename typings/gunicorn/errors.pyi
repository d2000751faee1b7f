class HaltServer(BaseException):
    reason: str

class AppImportError(Exception): ...
