import type { Entry } from '../history.ts';
import type { Check } from './check.ts';

/** A run that was cancelled takes no new calls. */
export const runs: Check = {
  name: 'runs',
  check: async ({ history }) => {
    const problems: string[] = [];
    /** The run of each agent that a response has reported as cancelled. */
    const cancelled = new Set<string>();
    const keys = new Set<unknown>();
    const request = new Map<string, { readonly run: string; readonly wasCancelled: boolean }>();
    for (const entry of history.entries) {
      if (entry.what === 'submit' || entry.what === 'cancel run') {
        const run = runOf(entry);
        const { key = null } = entry.data;
        // A request with the same key may have been recorded before.
        request.set(entry.who, { run, wasCancelled: cancelled.has(run) && !keys.has(key) });
        if (key !== null) keys.add(key);
      }
      const sent = request.get(entry.who);
      if (sent === undefined) continue;
      if (entry.what === 'run cancelled' && 'calls' in entry.data) cancelled.add(sent.run);
      if (entry.what === 'receipt' && sent.wasCancelled)
        problems.push(`${entry.who} got a receipt of ${sent.run}, which had been cancelled`);
    }
    return problems;
  },
};

function runOf({ data }: Entry): string {
  return `${String(data['agent'])} ${String(data['run'])}`;
}
