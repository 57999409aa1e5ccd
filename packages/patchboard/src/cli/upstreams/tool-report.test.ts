import { expect, it } from 'vitest';
import { createOutput } from '../output.ts';
import { printReport } from './tool-report.ts';

it('names a dozen of the tools that are not offered, and counts the others', () => {
  let notes = '';
  const output = createOutput({
    stdout: { write: () => {} },
    stderr: { write: (text) => void (notes += text) },
    noColour: true,
  });
  const rejected = Array.from({ length: 131 }, (_, index) => ({
    name: `api.tool-${index}`,
    code: 'schema_invalid' as const,
    reason: 'too many',
  }));
  printReport(output, {
    name: 'api',
    state: 'connected',
    protocol: null,
    lastError: null,
    tools: [{ name: 'api.read', annotations: {} }],
    rejected,
  });
  expect(notes.match(/^not offered: api\.tool-\d+: too many$/gm)).toHaveLength(12);
  expect(notes).toContain('not offered: 119 more; list --json names all, with the reasons\n');
  expect(notes).toContain('This, in the config file, makes them ask:\npolicy:\n');
});
