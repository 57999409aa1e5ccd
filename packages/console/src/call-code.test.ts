import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CODE_FORMS, codeFor } from './call-code.ts';

const request = {
  url: 'http://127.0.0.1:8080',
  tenant: 'default',
  tool: 'notes.add',
  args: '{\n  "text": "it\'s $HOME `id` \\"quoted\\"",\n  "id": 12345678901234567890\n}',
};

describe('codeFor', () => {
  it('quotes for the shell, so that nothing of an argument is run', () => {
    const code = codeFor('curl', request).replace(/^curl/, 'printf "%s\\n"');
    const out = execFileSync('sh', ['-c', code], { encoding: 'utf8' });
    expect(out).toContain('it\'s $HOME `id` \\"quoted\\"');
    expect(out).toContain('12345678901234567890');
  });

  it.each(CODE_FORMS)('%s keeps every digit', (form) => {
    if (form !== 'vcp') expect(codeFor(form, request)).toContain('12345678901234567890');
    expect(codeFor(form, request)).toContain('notes.add');
  });

  it('names the tenant where it is not the default', () => {
    expect(codeFor('curl', { ...request, tenant: 'acme' })).toContain('X-Tenant-ID: acme');
  });
});
