"""What every controller stands on: mirror, queue, runner, events, metrics, containment, quarantine."""
