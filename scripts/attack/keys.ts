import type { Battery } from './battery.ts';
import { refusalProblem } from './target.ts';

/**
 * A key with `keys:write` cannot create or revoke a key with more rights than itself, and cannot bring back
 * local mode.
 */
export const keyEscalation: Battery = async (target, tally) => {
  const { send, operator } = target;
  const mint = async (headers: Readonly<Record<string, string>>, body: unknown): Promise<Response> =>
    await send('/v1/keys', { method: 'POST', headers, body });
  type Response = Awaited<ReturnType<typeof send>>;
  const minted = JSON.parse(
    (await mint(operator, { kind: 'agent', name: 'clerk', scopes: ['keys:write', 'tools:call'] })).text,
  ) as { key: string; key_id: string };
  const wide = JSON.parse((await mint(operator, { kind: 'operator', name: 'night-shift' })).text) as {
    key: string;
    key_id: string;
  };
  const clerk = { authorization: `Bearer ${minted.key}` };
  const wider: Readonly<Record<string, unknown>> = {
    'an operator': { kind: 'operator', name: 'x' },
    'all scopes': { kind: 'agent', name: 'x', scopes: ['keys:write', 'policy:write', 'approvals:decide'] },
    'another tenant': { kind: 'agent', name: 'x', tenant_id: 'rival', scopes: ['tools:call'] },
    'a service that reads the ledger': { kind: 'service', name: 'x', scopes: ['ledger:read'] },
  };
  for (const [what, body] of Object.entries(wider)) {
    const response = await mint(clerk, body);
    tally.record(String(response.status), refusalProblem(`mint ${what}`, response));
  }
  const revoked = await send(`/v1/keys/${wide.key_id}`, { method: 'DELETE', headers: clerk });
  tally.record(String(revoked.status), refusalProblem('revoke a wider key', revoked));
  await send(`/v1/keys/${minted.key_id}`, { method: 'DELETE', headers: clerk });
  const after = await send('/v1/tools');
  tally.record(`anonymous ${after.status}`, refusalProblem('anonymous afterwards', after));
  const night = await send('/v1/tools', { headers: { authorization: `Bearer ${wide.key}` } });
  tally.record(`wider key ${night.status}`, night.status === 200 ? null : 'the wider key is gone');
};
