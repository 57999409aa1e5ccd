import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { CONFIG_SCHEMA } from '../../src/settings/config-schema.ts';
import * as config from '../../src/settings/environment.ts';
import { processContext } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { DEFAULT_LIMITS } from '../../src/core/limits.ts';
import { EMPTY_AGENT_POLICY, POLICY_MODES } from '../../src/core/access/policy/document.ts';
import { ROOT } from '../support/server-process.ts';
import { codeSpansOf, tablesOf } from './markdown.ts';

/** Commands that talk to a server have these; the text before the table says so. */
const COMMON = ['--url', '--profile', '--json', '--select', '--tenant'];

/** The tables of a document that begin with one of these words, row by row. */
function rowsUnder(file: string, titles: readonly string[]): readonly (readonly string[])[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return tablesOf(text).flatMap(([head = [], ...rows]) => (titles.includes(head[0] ?? '') ? rows : []));
}

function namesIn(rows: readonly (readonly string[])[]): string[] {
  return rows.map(([first = '']) => codeSpansOf(first)[0] ?? first).toSorted();
}

describe.each(['docs/configuration.md', 'docs/zh-CN/configuration.md'])('%s', (file) => {
  it('names every environment variable that is read, and no other', () => {
    expect(namesIn(rowsUnder(file, ['variable', '变量']))).toEqual(variablesRead().toSorted());
  });

  it('names every key of the config file, and no other', () => {
    expect(namesIn(rowsUnder(file, ['key', '键']))).toEqual(keysOf(CONFIG_SCHEMA).toSorted());
  });

  it('gives the limits as they are', () => {
    const rows = rowsUnder(file, ['key', '键']);
    for (const [name, value] of Object.entries(DEFAULT_LIMITS)) {
      const key = `limits.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
      expect(rows.find(([first = '']) => first === `\`${key}\``)?.[1], key).toBe(String(value));
    }
  });
});

describe('docs/configuration.md', () => {
  it('names every key and mode of a policy', () => {
    const rows = rowsUnder('docs/configuration.md', ['policy key']);
    expect(namesIn(rows)).toEqual(Object.keys(EMPTY_AGENT_POLICY).toSorted());
    const text = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
    for (const mode of POLICY_MODES) expect(text).toContain(`\`${mode}\``);
  });
});

describe.each(['docs/cli.md', 'docs/zh-CN/cli.md'])('%s', (file) => {
  it('names every command and option, and no other', async () => {
    const named = rowsUnder(file, ['command', '命令']).map(([first = '', second = '']) => ({
      path: codeSpansOf(first)[0] ?? first,
      options: codeSpansOf(second).toSorted(),
    }));
    const silent = { out: () => undefined, error: () => undefined };
    const program = createProgram(await commands(processContext({})), '0.0.0', silent);
    const there = program.commands.flatMap((command) => leavesOf(command, 'patchboard'));
    const byPath = (a: { path: string }, b: { path: string }): number => a.path.localeCompare(b.path);
    expect(named.toSorted(byPath)).toEqual(there.toSorted(byPath));
    const spans = codeSpansOf(readFileSync(join(ROOT, file), 'utf8'));
    expect(spans).toEqual(expect.arrayContaining(COMMON));
  });
});

/** Commands that do something, with the options that are their own. A group with options does something too. */
function leavesOf(command: Command, parent: string): { path: string; options: string[] }[] {
  const path = `${parent} ${command.name()}`;
  const inner = command.commands.flatMap((one) => leavesOf(one, path));
  const options = command.options.map(({ long }) => long ?? '').filter((name) => !COMMON.includes(name));
  if (inner.length > 0 && options.length === 0) return inner;
  return [{ path, options: options.toSorted() }, ...inner];
}

/** Whatever the settings, and every reader in `settings/environment.ts`, ask an environment for that holds nothing. */
function variablesRead(): string[] {
  const read = new Set<string>();
  const empty: config.Environment = new Proxy<Record<string, string>>(
    {},
    {
      get: (_target, name) => {
        if (typeof name === 'string') read.add(name);
        return undefined;
      },
    },
  );
  resolveSettings(empty, {});
  for (const reader of Object.values(config) as ((given: config.Environment) => unknown)[]) reader(empty);
  processContext(empty);
  // The bridge has no dependencies, so it reads the environment by itself.
  const bridge = join(ROOT, 'packages/patchboard/bin/mcp');
  for (const file of readdirSync(bridge))
    for (const [, name = ''] of readFileSync(join(bridge, file), 'utf8').matchAll(/\benv\.([A-Z_]+)/g))
      read.add(name);
  return [...read];
}

/** Dotted paths of everything that can be set; a name of the user's choice is NAME. */
function keysOf(schema: unknown, path: readonly string[] = []): string[] {
  const { properties = {}, additionalProperties } = schema as {
    properties?: Record<string, unknown>;
    additionalProperties?: unknown;
  };
  const own = Object.entries(properties).flatMap(([key, inner]) => keysOf(inner, [...path, key]));
  const named =
    typeof additionalProperties === 'object' ? keysOf(additionalProperties, [...path, 'NAME']) : [];
  return own.length + named.length === 0 ? [path.join('.')] : [...own, ...named];
}
