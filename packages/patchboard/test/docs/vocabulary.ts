import { CALL_STATES, CALL_STATUSES, EVENT_TYPES, FAILURE_CODES } from '@patchboard/wire';
import type { Command } from 'commander';
import { commands } from '../../src/cli/commands.ts';
import { processContext } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { COMPONENTS } from '../../src/transports/shared/routes/components.ts';
import { DEVICE_FRAMES, GATEWAY_FRAMES } from '../../src/transports/device-gateway/frames.ts';

const silent = { out: () => undefined, error: () => undefined };

const REGISTRARS = await commands(processContext({}));

export function program(): Command {
  return createProgram(REGISTRARS, '0.0.0', silent);
}

/** Returns a problem if the words after `patchboard` are not a command with existing options. */
export function commandProblem(line: string): string | null {
  // What follows `--` is the command line of another program.
  const [own = ''] = line.split(' -- ');
  const words = own.split(/\s+/).slice(1);
  let command = program();
  for (const word of words) {
    const inner = command.commands.find((candidate) => candidate.name() === word);
    if (inner === undefined) break;
    command = inner;
  }
  if (command.parent === null && words[0] !== undefined && !words[0].startsWith('-'))
    return `no command ${words[0]}`;
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0] ?? word);
  const known = ['--help', '--version', ...command.options.map(({ long }) => long)];
  const unknown = options.filter((option) => !known.includes(option));
  return unknown.length === 0 ? null : `${command.name()} has no ${unknown.join(', ')}`;
}

export function allOptions(): Set<string> {
  const all = new Set(['--help', '--version']);
  const collect = (command: Command): void => {
    for (const { long } of command.options) if (long !== undefined && long !== null) all.add(long);
    for (const inner of command.commands) collect(inner);
  };
  collect(program());
  return all;
}

/** Whether the path matches a route; `NAME`, `ID` and example ids stand for parameters. */
export function isRoute(method: string | null, path: string): boolean {
  const given = (path.split('?')[0] ?? path).split('/');
  return ROUTES.some((route) => {
    if (method !== null && route.method !== method) return false;
    const parts = route.url.split('/');
    if (parts.at(-1) === '*') return given.length >= parts.length;
    return (
      parts.length === given.length &&
      parts.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at]))
    );
  });
}

/** Names with an underscore in the wire protocol: codes, events, frames and members. */
export function wireNames(): Set<string> {
  const names = new Set<string>([...FAILURE_CODES, ...EVENT_TYPES]);
  for (const state of [...CALL_STATES, ...CALL_STATUSES]) names.add(state);
  for (const frames of [DEVICE_FRAMES, GATEWAY_FRAMES])
    for (const [type, { schema }] of frames) {
      names.add(type);
      collectMembers(schema, names);
    }
  collectMembers(COMPONENTS, names);
  for (const { query, headers, body, responses } of ROUTES)
    collectMembers([query, headers, body, Object.values(responses).map(({ schema }) => schema)], names);
  return names;
}

export function collectMembers(schema: unknown, into: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, inner] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(inner as object)) into.add(name);
    if (key === 'enum')
      for (const value of inner as unknown[]) if (typeof value === 'string') into.add(value);
    collectMembers(inner, into);
  }
}
