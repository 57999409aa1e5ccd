import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal } from '../../../test/support/an-engine.ts';
import { CITY } from '../../../test/support/asking-tools.ts';
import { InputRequired, type InputRequest } from '../call/input.ts';
import type { Result } from '../result.ts';
import type { PromptInput } from './prompt-inputs.ts';
import type { Prompt, PromptContext } from './resource.ts';

const me = aPrincipal();
const PARIS = { action: 'accept', content: { city: 'Paris' } } as const;
const DAYS = { message: 'How long?', schema: { type: 'integer' } } as const;
const THREE = { action: 'accept', content: 3 } as const;

/** Asks for each of the requests that has no response, all at once or one after the other. */
function asking(requests: Readonly<Record<string, InputRequest>>, isOneByOne = false): Prompt['get'] {
  return (_args, { inputs }) => {
    const missing = Object.entries(requests).filter(([key]) => !(key in inputs));
    if (missing.length === 0) return JSON.stringify(inputs);
    return new InputRequired(Object.fromEntries(isOneByOne ? missing.slice(0, 1) : missing), { carried: 1 });
  };
}

async function get(prompt: Prompt['get'], input: PromptInput = {}): Promise<Result<unknown>> {
  const { engine } = await anEngine({});
  expect(engine.resources.add({ prompts: [{ name: 'plan', get: prompt }] }, { pack: 'p' })).toBeNull();
  return await engine.resources.promptOrInput(me, 'plan', {}, input);
}

const said = (value: unknown): unknown => ({
  ok: true,
  value: { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(value) } }] },
});

describe('a prompt that asks its caller', () => {
  it('returns the request, and the messages to a caller that sends the response', async () => {
    const plan = asking({ city: CITY });
    expect(await get(plan)).toEqual({ ok: true, value: { requests: { city: CITY }, given: {} } });
    expect(await get(plan, { inputs: { city: PARIS } })).toMatchObject(said({ city: PARIS }) as object);
  });

  it('asks for what is missing or does not fit, and returns what was used', async () => {
    const plan = asking({ city: CITY, days: DAYS });
    const wrong = { action: 'accept', content: 'long' } as const;
    for (const inputs of [{ city: PARIS }, { city: PARIS, days: wrong, other: THREE }])
      expect(await get(plan, { inputs })).toEqual({
        ok: true,
        value: { requests: { days: DAYS }, given: { city: PARIS } },
      });
  });

  it('asks one thing after the other, without anything kept in between', async () => {
    const plan = asking({ city: CITY, days: DAYS }, true);
    expect(await get(plan, { inputs: { city: PARIS } })).toEqual({
      ok: true,
      value: { requests: { days: DAYS }, given: { city: PARIS } },
    });
    const inputs = { city: PARIS, days: THREE };
    expect(await get(plan, { inputs })).toMatchObject(said(inputs) as object);
  });

  it('fails if the caller cannot respond or declines, unless the prompt handles that', async () => {
    const plan = asking({ city: CITY });
    const decline = { city: { action: 'decline', content: null } } as const;
    expect(await get(plan, { acceptsInput: ['url'] })).toMatchObject({
      failure: { code: 'input_unavailable', reasons: [{ params: { tool: 'plan', kind: 'form' } }] },
    });
    expect(await get(plan, { inputs: decline })).toMatchObject({ failure: { code: 'input_declined' } });
    const patient = asking({ city: { ...CITY, handlesDecline: true } });
    expect(await get(patient, { inputs: decline })).toMatchObject(said(decline) as object);
  });

  it('sees what the caller can respond to', async () => {
    const kinds = (_args: unknown, context: PromptContext): string => context.acceptsInputKinds.join(' ');
    expect(await get(kinds, { acceptsInput: ['form', 'roots'] })).toMatchObject({
      value: { messages: [{ content: { text: 'form roots' } }] },
    });
  });

  it('fails if its requests are invalid, or it does not stop asking', async () => {
    expect(await get(asking({ a: { message: '' } }))).toMatchObject({ failure: { code: 'resource_failed' } });
    expect(await get(() => new InputRequired({}))).toMatchObject({ failure: { code: 'resource_failed' } });
    let at = 0;
    const endless: Prompt['get'] = () => new InputRequired({ [`k${(at += 1)}`]: DAYS });
    const inputs = Object.fromEntries(Array.from({ length: 20 }, (_each, n) => [`k${n}`, THREE]));
    expect(await get(endless, { inputs })).toMatchObject({
      failure: { code: 'input_unavailable', reasons: [{ code: 'input_rounds_used' }] },
    });
  });

  it('takes a bounded number of responses', async () => {
    const inputs = Object.fromEntries(Array.from({ length: 21 }, (_each, n) => [`k${n}`, THREE]));
    expect(await get(() => 'hello', { inputs })).toMatchObject({ failure: { code: 'body_invalid' } });
  });

  it('fails for a caller that cannot give input at all', async () => {
    const { engine } = await anEngine({});
    engine.resources.add({ prompts: [{ name: 'plan', get: asking({ city: CITY }) }] }, { pack: 'p' });
    expect(await engine.resources.prompt(me, 'plan', {})).toMatchObject({
      ok: false,
      failure: { code: 'input_unavailable' },
    });
  });
});
