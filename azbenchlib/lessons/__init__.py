"""The course: twelve lessons in which a student predicts, measures an emulated disk, and is checked."""
