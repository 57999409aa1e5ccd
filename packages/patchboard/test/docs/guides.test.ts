import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf } from '../readme/markdown.ts';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';

/** Programs that are followed by what they print; the other blocks of these guides are fragments. */
const PROGRAMS = ['docs/guides/agents.md', 'docs/guides/text-protocols.md'].flatMap((page) => {
  const blocks = blocksOf(readFileSync(join(ROOT, page), 'utf8'));
  return blocks.flatMap(({ language, code, line }, index) => {
    const next = blocks[index + 1];
    return language === 'ts' && next?.language === 'text' ? [[page, line, code, next.code] as const] : [];
  });
});

describe('the programs of the guides', () => {
  it('are there', () => expect(PROGRAMS.length).toBeGreaterThanOrEqual(2));

  it.each(PROGRAMS)('%s, line %i, prints what it says', async (_page, _line, code, printed) => {
    const flags = ['--conditions=patchboard-source', '--input-type=module-typescript', '--eval', code];
    const finished = await runCommand(process.execPath, flags, { cwd: ROOT, env: cleanEnvironment() });
    expect(finished.error).toBe('');
    expect(finished.out.trim()).toBe(printed.trim());
  });
});
