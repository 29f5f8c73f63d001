"""The exercises of the lessons: a module a lesson, whose right answers come from the model."""
