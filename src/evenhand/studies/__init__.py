"""What takes several audits: debiasing, the bias of a corpus, meta-evaluation, the papers' studies."""
