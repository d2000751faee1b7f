"""Programs for those who work on Modelway: the reference of the site, licences, a release."""
