import { expect, it } from 'vitest';
import type { RunCallsView, RunOutcomeName } from './search-views.ts';
import { shownRunOutcome } from './shown-run-outcome.ts';

function shown(outcome: RunOutcomeName, byState: RunCallsView['by_state']): string | null {
  const calls = { total: 3, open: 1, failed: 0, by_state: byState, last_ended_at: null };
  return shownRunOutcome({ outcome, calls });
}

it('is waiting while no call of the run is executed, wherever its calls wait', () => {
  expect(shown('running', { PENDING: 1, COMPLETED: 2 })).toBe('waiting');
  expect(shown('running', { APPROVAL_REQUIRED: 1, APPROVED: 1, INPUT_REQUIRED: 1 })).toBe('waiting');
  expect(shown('running', { PENDING: 2, EXECUTING: 1 })).toBe('running');
});

it('is otherwise the outcome, also of an older server without counts', () => {
  expect(shown('completed', { COMPLETED: 3 })).toBe('completed');
  expect(shown('cancelled', { CANCELLED: 3 })).toBe('cancelled');
  expect(shownRunOutcome({ outcome: 'running' })).toBe('running');
  expect(shownRunOutcome({})).toBeNull();
});
