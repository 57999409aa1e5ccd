import type { Battery } from './battery.ts';
import { faultProblem } from './target.ts';

const SHORT = 10;
const LONG = 185;
const RIVALS = 6;

interface Waiting {
  readonly tool_call_id: string;
  readonly digest: string;
}

/** Operators, the caller and the clock race for one call: one decision counts, and the ledger has it once. */
export const decisionRaces: Battery = async (target, tally, { isShort, random }) => {
  const { send, operator } = target;
  const agent = target.credentials['agent'] ?? {};
  const client = target.credentials['client'] ?? {};
  const tools = [{ name: 'race.delete', schema: {}, annotations: { destructive: true } }];
  await send('/internal/tools/register', {
    method: 'POST',
    headers: client,
    body: { client_id: 'phone', tools },
  });
  for (let round = 0; round < (isShort ? SHORT : LONG); round += 1) {
    const body = { run_id: `run_race_${round}`, args: { n: round } };
    const made = await send('/v1/tools/race.delete/invoke', { method: 'POST', headers: agent, body });
    const { tool_call_id: id } = JSON.parse(made.text) as { tool_call_id: string };
    const { approvals } = JSON.parse((await send('/v1/approvals', { headers: operator })).text) as {
      approvals: Waiting[];
    };
    const digest = approvals.find((waiting) => waiting.tool_call_id === id)?.digest ?? '';
    const attempts = Array.from({ length: RIVALS }, async (_, index) => {
      const path = index === 0 && random.chance(0.5) ? 'cancel' : 'decision';
      const wrong = index === RIVALS - 1;
      const sent = {
        method: 'POST',
        headers: path === 'cancel' ? agent : operator,
        body:
          path === 'cancel'
            ? {}
            : { decision: random.pick(['allow', 'deny']), digest: wrong ? '0'.repeat(64) : digest },
      };
      const response = await send(`/v1/tool_calls/${id}/${path}`, sent);
      return { ...response, wrong };
    });
    const responses = await Promise.all(attempts);
    const winners = responses.filter(({ status }) => status === 200);
    const fault = responses
      .map((response) => faultProblem(`race ${round}`, response))
      .find((found) => found !== null);
    const byWrongDigest = winners.some(({ wrong }) => wrong);
    const problem =
      fault ??
      (byWrongDigest ? `race ${round}: a wrong digest decided` : null) ??
      (winners.length === 1 ? null : `race ${round}: ${winners.length} decisions were taken`);
    tally.record(winners.length === 1 ? 'one winner' : `${winners.length} winners`, problem);
  }
};
