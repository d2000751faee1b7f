"""`answer: responses` is made by the application, which alone can call other routes."""

from engine.edge.answers.own_answer import AnswerSources
from engine.edge.answers.responses import ANSWER


def test_it_is_a_websocket_whose_handler_is_given():
    def handler(exchange):
        raise NotImplementedError

    assert ANSWER.is_websocket
    assert ANSWER.handler(AnswerSources(None, (), socket=handler)) is handler
