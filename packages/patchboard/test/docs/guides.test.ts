import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { blocksOf } from '../readme/markdown.ts';
import { ROOT } from '../support/server-process.ts';

/**
 * Declarations around a fragment that the guide does not show. Whole programs are run, see readme.long.test.ts, except those
 * that need a service: their types are checked here too.
 */
const SURROUNDINGS = `
import { Agent, createPatchboard, formatResultsForContext, processToolCallCycle, tool } from 'patchboard';
import type { AgentOptions, ToolCallConfig } from 'patchboard';
declare const board: Awaited<ReturnType<typeof createPatchboard>>;
declare const model: AgentOptions['model'];
declare const permission: NonNullable<AgentOptions['permission']>;
declare const config: Partial<ToolCallConfig>;
declare const callId: string;
declare const bookmark: number;
declare const conversation: string[];
declare function ask(conversation: readonly string[]): Promise<string>;
declare function show(event: unknown): void;
`;

const FRAGMENTS = readdirSync(join(ROOT, 'docs/guides')).flatMap((name) =>
  blocksOf(readFileSync(join(ROOT, 'docs/guides', name), 'utf8'))
    .filter(({ mark, language }) => mark === 'fragment' || (mark === 'not run' && language === 'ts'))
    .map(({ code, line, mark }) => {
      if (mark === 'not run') return { at: `${name}:${line}`, text: `${code}\nexport {};\n` };
      const needsAgent = !/const agent\b/.test(code);
      const agent = needsAgent ? 'declare const agent: Agent;\n' : '';
      return { at: `${name}:${line}`, text: `${SURROUNDINGS}${agent}{\n${code}\n}\nexport {};\n` };
    }),
);

it('the fragments of the guides say what the library takes', { timeout: 120_000 }, () => {
  expect(FRAGMENTS.length).toBeGreaterThanOrEqual(5);
  const files = new Map(
    FRAGMENTS.map(({ text }, index) => [join(ROOT, 'docs', `fragment-${index}.ts`), text]),
  );
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (path) =>
    readFileSync(path, 'utf8'),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const settings: ts.CompilerOptions = { ...options, types: ['node'], noEmit: true, composite: false };
  const host = ts.createCompilerHost(settings);
  host.readFile = (path) => files.get(path) ?? ts.sys.readFile(path);
  host.fileExists = (path) => files.has(path) || ts.sys.fileExists(path);
  const program = ts.createProgram([...files.keys()], settings, host);
  const problems = [...files.keys()].flatMap((path, index) => {
    const source = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      .filter(({ code }) => code !== NOT_USED)
      .map(
        ({ messageText }) => `${FRAGMENTS[index]?.at}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
      );
  });
  expect(problems).toEqual([]);
});

/** TypeScript error "declared but never used": a fragment may end before it uses a variable. */
const NOT_USED = 6133;
