"""Gates: each looks at a captured case and gives None, or the closed word under which the case is dropped."""
