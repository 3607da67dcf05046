# Thin aliases of cargo.
.PHONY: test test-state test-validation bench

test:
	cargo test

# The suites about reviews and state.json.
test-state:
	cargo test --test black_box -- auto_review:: state_transitions:: cli_invocation:: block_messages:: edge_cases:: transcripts::loop_of_reviews

# The structure rules of a plan.
test-validation:
	cargo test --test black_box -- validation::

bench:
	cargo bench --bench hook
