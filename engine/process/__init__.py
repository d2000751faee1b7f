"""What acts in one process: periodic tasks, log lines that are throttled, the limit of file
descriptors, the runtime directory, pauses of the garbage collector, what passes between processes.
Ground floor: it imports nothing of ours.
"""
