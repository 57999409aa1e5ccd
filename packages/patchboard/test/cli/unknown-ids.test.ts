import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { processContext } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { runCli, type Ended } from '../support/run-cli.ts';
import { LONG, Workplace } from './cli-process.ts';

/** Commands with an unknown id, and what the error contains. */
const UNKNOWN: readonly (readonly [command: string, words: string])[] = [
  ['call no.tool', 'no.tool'],
  ['tools show no.tool', 'no.tool'],
  ['calls show tc_none', 'tc_none'],
  ['calls cancel tc_none', 'tc_none'],
  ['calls replay tc_none', 'tc_none'],
  ['calls replay tc_none a=1', 'tc_none'],
  ['calls tail tc_none', 'tc_none'],
  ['calls ls --run none', 'no such run: none'],
  ['calls ls run:none', 'no such run: none'],
  ['calls ls run:none since:1h --json', 'no such run: none'],
  ['calls ls parent:tc_none', 'no such call: tc_none'],
  ['calls ls trace:none', 'there is no trace "none"'],
  ['calls ls state:refused trace:none', 'there is no trace "none"'],
  ['runs show none', 'no such run: none'],
  ['runs cancel none', 'no such run: none'],
  ['resources read none://x', 'none://x'],
  ['prompts get none', 'none'],
  ['mcp remove none', 'none'],
  ['mcp accept none --yes', 'none'],
  ['mcp restart none', 'none'],
  ['openapi remove none', 'none'],
  ['openapi accept none --yes', 'none'],
  ['openapi restart none', 'none'],
  ['approve tc_none --yes', 'tc_none'],
  ['deny tc_none --yes', 'tc_none'],
  ['input tc_none', 'tc_none'],
  ['input tc_none a=1', 'tc_none'],
  ['profile show none', 'there is no profile "none"'],
  ['profile use none', 'there is no profile "none"'],
  ['profile remove none', 'there is no profile "none"'],
  ['nodes --profile none', 'there is no profile "none"'],
  ['open none --print', 'there is no call, run, trace or page "none"'],
  ['grants revoke none', 'no such grant: none'],
  ['keys revoke none', 'no such key: none'],
  ['tenants rm none', 'none'],
  ['policy show 99', 'no version 99'],
  ['policy rollback 99 --yes', 'no version 99'],
  ['policy explain no.tool --agent a', 'no.tool'],
  ['ledger ls --call tc_none', 'there is no call "tc_none"'],
  ['ledger ls --trace none --since 1h', 'there is no trace "none"'],
  ['ledger trace none', 'there is no trace "none"'],
];

/** Commands whose arguments name nothing that must exist on a server: files, queries, and what they create. */
const WITHOUT_ID = [
  'metrics',
  'device run',
  'mcp add',
  'mcp import',
  'openapi add',
  'profile add',
  'tenants set',
  'policy put',
  'policy check',
  'parse',
  'backup',
  'data import',
  'data copy',
  'completion values',
];

let place: Workplace;
let stop: () => Promise<void>;

function run(command: string): Promise<Ended> {
  return runCli(command.split(' '), { XDG_CONFIG_HOME: place.folder, ...place.environment });
}

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve();
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
});

describe('an unknown id', { timeout: LONG }, () => {
  it.each(UNKNOWN)('%s', async (command, words) => {
    const { code, out, error } = await run(command);
    expect([code, out]).toEqual([5, '']);
    expect(error).toContain(words);
  });

  it('is tested for every command that takes an argument', async () => {
    const program = createProgram(await commands(processContext({})), '0.0.0', {
      out: () => {},
      error: () => {},
    });
    const tested = UNKNOWN.map(([command]) => command);
    const missing = leavesOf(program, '')
      .filter(({ command }) => command.registeredArguments.length > 0)
      .map(({ name }) => name)
      .filter((name) => !WITHOUT_ID.includes(name) && !tested.some((one) => one.startsWith(`${name} `)));
    expect(missing).toEqual([]);
  });
});

describe('a filter that matches nothing', { timeout: LONG }, () => {
  it('is an empty list', async () => {
    expect((await run('call calculation.eval expression=1 --run known')).code).toBe(0);
    const [id = ''] = (await run('calls ls --select .tool_calls[].tool_call_id')).out.split('\n');
    for (const command of [
      'calls ls --run known state:failed',
      'calls ls --agent none',
      `calls ls parent:${id}`,
      'runs ls --agent none',
      `ledger ls --call ${id} --since 2099-01-01`,
      'metrics tool:none',
    ]) {
      const { code, out, error } = await run(command);
      expect([command, code, out]).toEqual([command, 0, '']);
      expect(error).toMatch(/no (calls|runs|rows)/);
    }
  });
});

/** The commands that do something, without the groups. */
function leavesOf(command: Command, name: string): { readonly name: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((one) => leavesOf(one, `${name} ${one.name()}`.trim()));
}
