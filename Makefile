# Thin aliases of cargo. A filter that matches no test fails.
.PHONY: test test-state test-validation bench

test:
	cargo test

# The suites about reviews and state.json.
test-state: filters = auto_review:: state_transitions:: cli_invocation:: block_messages:: edge_cases:: transcripts::loop_of_reviews
# The structure rules of a plan.
test-validation: filters = validation::
test-state test-validation:
	@for filter in $(filters); do \
	  cargo test --quiet --test black_box -- --list $$filter | grep -q ': test$$' || { echo "no test matches $$filter" >&2; exit 1; }; \
	done
	cargo test --test black_box -- $(filters)

bench:
	cargo bench --bench hook
