"""The application of a small project, and what its upstreams receive."""

from falcon.testing import TestClient
from msgspec.structs import replace

from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.stand_ins import recorder
from tests.support.rehearsing import CONFIG, SECRET, planned

TOKEN = {"Authorization": f"Bearer {SECRET}"}


class ProjectApp:
    """The application of the project's plan, and the requests that its upstreams receive."""

    def __init__(self, folder, config=CONFIG, *, closing=(), **options):
        plan = planned(folder, config).plan
        self.requests = []
        services = replace(services_of(plan), dice=lambda: 0.0, closing=[*closing])
        client = recorder(self.requests, UpstreamAnswers())
        self.app = build(plan, services, client=client, **options)
        self.client = TestClient(self.app)

    def chat(self, headers=TOKEN, **body):
        return self.client.simulate_post("/v1/chat", json=body, headers=headers)
