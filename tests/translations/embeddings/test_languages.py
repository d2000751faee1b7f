"""The languages of embeddings are the modules of a folder."""

from engine.translations.embeddings.languages import embedding_languages


def test_a_module_of_the_folder_is_a_language():
    names = [language.name for language in embedding_languages()]
    assert names == ["batch_embed_contents", "embed_content", "embeddings"]
