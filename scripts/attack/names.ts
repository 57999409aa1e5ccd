import type { Battery } from './battery.ts';
import { faultProblem } from './target.ts';

const INVISIBLE = ['\u200b', '\u202e', '\u{E0100}', '\u3164', '\u2800', '\u0007', '\r', '\ufeff', '\u00ad'];

/** Names that look like other tools, and texts with characters that a reader does not see. */
export const hostileNames: Battery = async (target, tally) => {
  const headers = target.credentials['client'] ?? {};
  const register = async (what: string, spec: Readonly<Record<string, unknown>>): Promise<void> => {
    const body = { client_id: 'phone', tools: [{ schema: { type: 'object' }, ...spec }] };
    const response = await target.send('/internal/tools/register', { method: 'POST', headers, body });
    const { ok = false } = response.status === 200 ? (JSON.parse(response.text) as { ok?: boolean }) : {};
    const problem = ok ? `${what} was registered` : faultProblem(what, response);
    tally.record(ok ? 'registered' : 'rejected', problem);
  };
  const names = ['weather.query', 'weather__query', 'Weather.Query', 'weather_query', 'DATABASE.QUERY'];
  names.push('__proto__', 'a b', 'a/b', '', '.', 'x'.repeat(200), 'naïve', 'a\u200bb');
  for (const name of names) await register(`a tool named ${JSON.stringify(name)}`, { name });
  for (const hidden of INVISIBLE) {
    const shown = `U+${hidden.codePointAt(0)?.toString(16)}`;
    await register(`a description with ${shown}`, { name: 'fine', description: `do${hidden}this` });
  }
};
