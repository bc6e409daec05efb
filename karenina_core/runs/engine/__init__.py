"""Carries runs, scorings and drafts out: one event loop, durable storing, spending, progress.

    Engine.start ─▶ RunJob: workers take (question, model, replicate) ─▶ Pipeline.generate, .judge
                              │ calls: ModelCaller over CallServices     └▶ BatchWriter: one transaction for
                              └ (RunLedger, RunLimiter, SpendMeter, PauseControl)   what arrived together

What its tests hold:

* Nothing that was reported as done is lost, and no stored call is asked again, however a run was stopped.
* What a run spent is entered with the reply it paid for, so that its account and the stored calls agree; a
  reply that a kill takes before it is stored is in neither.
* An evaluation asks further only when its earlier reply is stored: a kill costs one call of each at most.
* A budget is exceeded by the calls in flight at most.
* What the database refuses is tried again; the run is paused with the reason meanwhile.
* A run belongs to one process. Who loses it stores no further rows, and finishes and stores the calls in flight.
"""
