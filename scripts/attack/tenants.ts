import type { Battery } from './battery.ts';
import { refusalProblem } from './target.ts';

/**
 * Requests for ids and tools of one tenant with the key of another: the response must be as for ones that do
 * not exist.
 */
export const foreignTenant: Battery = async (target, tally) => {
  const agent = target.credentials['agent'] ?? {};
  const made = await target.send('/v1/tools/calculation.eval/invoke', {
    method: 'POST',
    headers: agent,
    body: { run_id: 'run_own', args: { expression: '1+1' } },
  });
  const { tool_call_id: id } = JSON.parse(made.text) as { tool_call_id: string };
  const rival = target.credentials['rival'] ?? {};
  const paths = ['', '/events', '/cancel', '/replay', '/wait', '/decision'].map(
    (end) => `/v1/tool_calls/${id}${end}`,
  );
  paths.push('/v1/runs/run_own', '/v1/runs/run_own/cancel', `/internal/tool_calls/${id}/submit`);
  for (const path of paths) {
    for (const method of ['GET', 'POST']) {
      const sent = { method, headers: rival, ...(method === 'POST' ? { body: {} } : {}) };
      const response = await target.send(path, sent);
      tally.record(String(response.status), refusalProblem(`${method} ${path} as another tenant`, response));
    }
  }
};
