"""What several languages of one vendor share: models and their parameters, and forms of content.
`openai_...` serve `chat_completions` and `responses`, `anthropic_models` with `closed_schemas`
`messages` and `converse`; `model_parameters` reads what the models of a vendor accept, and
`other_parts` the parts of a content in the words of another format.
"""
