import type { Check } from './check.ts';

const EXPECTED_ERRORS: ReadonlySet<unknown> = new Set(['StorageFull', 'StorageUnavailable']);
const STORE_MESSAGES = /simulated store|taken over/;

/** No exception is left uncaught, and requests and background tasks fail only because of the store. */
export const errors: Check = {
  name: 'errors',
  check: async ({ world, history }) => {
    const problems = [...world.problems];
    for (const { who, what, data } of history.entries) {
      if (what === 'error' && 'name' in data && !EXPECTED_ERRORS.has(data['name']))
        problems.push(`${who}: the engine threw ${String(data['name'])}: ${String(data['message'])}`);
      if (data['event'] === 'task.failed' && !STORE_MESSAGES.test(String(data['error'])))
        problems.push(`${who}: task ${String(data['task'])} failed: ${String(data['error'])}`);
    }
    return problems;
  },
};
