"""Who tells of the spans."""

from engine.telemetry.tracing.resource import resource


def named(**environ):
    return resource(environ, "1.2.3", "host-1", 42)


def test_a_worker_says_who_it_is():
    assert named() == {
        "service.name": "modelway",
        "service.version": "1.2.3",
        "service.instance.id": "host-1:42",
        "host.name": "host-1",
        "process.pid": 42,
    }


def test_the_environment_names_the_service_and_more():
    known = named(
        OTEL_SERVICE_NAME="shop-gateway",
        OTEL_RESOURCE_ATTRIBUTES="service.name=other, deployment.environment.name=prod%2Feu,",
    )
    assert known["service.name"] == "shop-gateway"
    assert known["deployment.environment.name"] == "prod/eu"


def test_an_environment_that_cannot_be_read_is_left_out_whole(caplog):
    assert named(OTEL_RESOURCE_ATTRIBUTES="a=1,nonsense") == named()
    assert "OTEL_RESOURCE_ATTRIBUTES" in caplog.text
