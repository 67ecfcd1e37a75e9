"""Which errors of a database pass by themselves."""


def database_errors() -> tuple[type[Exception], ...]:
    """Everything that speaking with the database raises."""
    import procrastinate.exceptions
    import psycopg

    return (psycopg.Error, procrastinate.exceptions.ProcrastinateException, TimeoutError)


def is_passing(error: BaseException) -> bool:
    """Whether it is the connection, the server that starts again, or two that met: worth another try."""
    import psycopg

    cause = cause_of(error)
    passing = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.IntegrityError, TimeoutError)
    return isinstance(cause, passing)


def cause_of(error: BaseException) -> BaseException:
    """The error of the database itself, of one that wraps it."""
    import procrastinate.exceptions

    if isinstance(error, procrastinate.exceptions.ConnectorException) and error.__cause__ is not None:
        return error.__cause__
    return error
