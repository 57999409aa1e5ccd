import type { Battery } from './battery.ts';
import { faultProblem } from './target.ts';

const START = '<<<[TOOL_REQUEST]>>>';
const SIZE = 1_000_000;
const MAX_RESPONSE_BYTES = 4_000_000;

const REPLIES: Readonly<Record<string, string>> = {
  'opening markers': START.repeat(SIZE / START.length),
  'opening markers with a name': `${START}tool_name:「始」x`.repeat(SIZE / 40),
  'half markers': '<<<[TOOL_REQUEST]'.repeat(SIZE / 17),
  'angle brackets': '<'.repeat(SIZE),
  'back-ticks': '`'.repeat(SIZE),
  fences: '```\n'.repeat(SIZE / 4),
  'thinking blocks that do not close': '<think>'.repeat(SIZE / 7),
  'values that do not close': `${START}\n${'a:「始」'.repeat(SIZE / 8)}`,
};

/** Completely damaged model replies: parsed in linear time, with a small response. */
export const damagedReplies: Battery = async (target, tally, { isShort }) => {
  const headers = target.credentials['agent'] ?? {};
  const width = isShort ? 1 : 10;
  for (const [what, text] of Object.entries(REPLIES)) {
    const requests = Array.from({ length: width }, async () =>
      target.send('/v1/parse', { method: 'POST', headers, body: { protocol: 'vcp', text } }),
    );
    const health = target.send('/healthz');
    for (const response of await Promise.all(requests)) {
      const tooLarge = response.text.length > MAX_RESPONSE_BYTES;
      const problem = tooLarge ? `${what}: a response of ${response.text.length} bytes` : null;
      tally.record(String(response.status), problem ?? faultProblem(what, response));
    }
    const { status } = await health;
    tally.record(`health ${status}`, status === 200 ? null : `${what}: /healthz returned ${status}`);
  }
};
