import { NetworkError, PatchboardError, TimeoutError, ToolCallFailed } from '@patchboard/client';
import { HTTP_HINTS, type CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../settings/config-file.ts';
import { EXIT, exitCodeOf, UsageError } from './exit-codes.ts';
import { createProgram, errorText, runProgram, type Registrar } from './program.ts';

async function run(
  argv: string[],
  action: () => void = () => undefined,
): Promise<{ code: number | null; out: string; error: string }> {
  const seen = { out: '', error: '' };
  const streams = {
    out: (text: string) => void (seen.out += text),
    error: (text: string) => void (seen.error += text),
  };
  const register: Registrar = (program) => {
    program.command('act').option('--json').requiredOption('--level <n>', 'how much', '1').action(action);
  };
  const code = await runProgram(createProgram([register], '1.2.3', streams), argv, streams);
  return { code, ...seen };
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

const problem = (code: string): PatchboardError => new PatchboardError('problem', `${code}!`, { code });

function ended(given: Partial<CallView>): ToolCallFailed {
  return new ToolCallFailed({ status: 'FAILED', state: 'FAILED', error: null, ...given } as CallView);
}

describe('the program', () => {
  it('leaves the exit code to a command that succeeds', async () => {
    expect(await run(['act'])).toEqual({ code: null, out: '', error: '' });
  });

  it.each([[['--help']], [['act', '--help']], [['--version']]])('exits with 0 for %j', async (argv) => {
    const { code, out } = await run(argv);
    expect(code).toBe(EXIT.ok);
    expect(out).not.toBe('');
  });

  it.each([[['nonsense']], [['act', '--nonsense']], [['act', '--level']]])(
    'exits with 2 for %j',
    async (argv) => {
      const { code, out, error } = await run(argv);
      expect(code).toBe(EXIT.usage);
      expect(out).toBe('');
      expect(error).not.toBe('');
    },
  );

  it('prints a failure as text, or as JSON with --json', async () => {
    const error = new PatchboardError('problem', 'does not fit', {
      code: 'input_invalid',
      issues: [{ path: '/a', message: 'must be a number' }],
      recommendations: ['see the schema'],
    });
    expect(await run(['act'], throwing(error))).toEqual({
      code: EXIT.usage,
      out: '',
      error: 'patchboard: does not fit\n  /a: must be a number\n  → see the schema\n',
    });
    const { error: text } = await run(['act', '--json'], throwing(error));
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'input_invalid', message: 'does not fit' } });
  });

  it('names the variable to set when a credential is needed, unless the advice does already', () => {
    const facts = { code: 'auth_required', recommendations: HTTP_HINTS.auth_required };
    const text = errorText(new PatchboardError('problem', 'a credential is needed', facts));
    expect(text).toContain('→ set PATCHBOARD_KEY to a key of this server');
    expect(text).not.toContain('Bearer');
    const own = { ...facts, recommendations: ['set PATCHBOARD_DATA to …'] };
    expect(errorText(new PatchboardError('problem', 'no', own))).toBe(
      'patchboard: no\n  → set PATCHBOARD_DATA to …',
    );
  });

  it('replaces advice with routes by advice with commands, and repeats nothing', () => {
    const facts = {
      code: 'input_invalid',
      issues: [{ path: '', message: "must have required property 'a'" }],
      recommendations: ['GET /v1/tools/:name shows the schema of a tool'],
    };
    expect(errorText(new PatchboardError('problem', "args must have required property 'a'", facts))).toBe(
      "patchboard: args must have required property 'a'\n  → show the schema of a tool with: patchboard tools show NAME",
    );
    const own = { code: 'tool_not_found', recommendations: ['connect the phone'] };
    expect(errorText(new PatchboardError('problem', 'not here', own))).toContain('→ connect the phone');
  });

  it('names an option as it was given, not as the parameter of the route', async () => {
    const refused = new PatchboardError('problem', 'query/level must be small', { code: 'body_invalid' });
    for (const argv of [
      ['act', '--level', '2'],
      ['act', '--level=2'],
    ])
      expect((await run(argv, throwing(refused))).error).toBe('patchboard: --level must be small\n');
    expect((await run(['act'], throwing(refused))).error).toBe('patchboard: query/level must be small\n');
  });

  it('prints how to start a server that is not reachable', () => {
    expect(errorText(new NetworkError('cannot reach x'))).toContain('patchboard serve');
  });
});

describe('exit codes', () => {
  it.each([
    [new UsageError('x'), 2],
    [problem('input_invalid'), 2],
    [problem('permission_denied'), 3],
    [problem('auth_required'), 3],
    [ended({ state: 'DENIED' }), 3],
    [ended({ status: 'TIMEOUT', state: 'TIMED_OUT' }), 4],
    [new TimeoutError('x'), 4],
    [problem('tool_not_found'), 5],
    [problem('call_not_found'), 5],
    [problem('value_not_found'), 5],
    [problem('name_taken'), 2],
    [problem('of another version'), 1],
    [problem('toString'), 1],
    [new NetworkError('x'), 6],
    [new TimeoutError('x', { cause: new NetworkError('y') }), 6],
    [new PatchboardError('bad_response', 'x', { code: 'bad_response' }), 6],
    [ended({}), 1],
    [ended({ state: 'CANCELLED' }), 1],
    [problem('overloaded'), 1],
    [new Error('bug'), 1],
  ])('%s is %i', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  it('count a bad config as usage', async () => {
    expect((await run(['act'], throwing(new ConfigError('x')))).code).toBe(EXIT.usage);
  });
});
