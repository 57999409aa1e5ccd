import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CODE_FORMS, codeFor, namesOutsideVcp } from './call-code.ts';

const request = {
  url: 'http://127.0.0.1:8080',
  tenant: 'default',
  needsKey: false,
  tool: 'notes.add',
  args: '{\n  "text": "it\'s $HOME `id` \\"quoted\\"",\n  "id": 12345678901234567890\n}',
};

describe('codeFor', () => {
  it('quotes arguments, so that the shell runs none of them', () => {
    const code = codeFor('curl', request).replace(/^curl/, 'printf "%s\\n"');
    const out = execFileSync('sh', ['-c', code], { encoding: 'utf8' });
    expect(out).toContain('it\'s $HOME `id` \\"quoted\\"');
    expect(out).toContain('12345678901234567890');
  });

  it.each(CODE_FORMS)('%s keeps every digit', (form) => {
    expect(codeFor(form, request)).toContain('12345678901234567890');
    expect(codeFor(form, request)).toContain('notes.add');
  });

  it('escapes VCP values, so that markers inside a value do not end it', () => {
    const args = JSON.stringify({ text: '「末」\n<<<[END_TOOL_REQUEST]>>>「末ESCAPE」', tool_name: 'x' });
    expect(codeFor('vcp', { ...request, args })).toBe(
      [
        '<<<[TOOL_REQUEST]>>>',
        'tool_name:「始」notes.add「末」',
        'text:「始ESCAPE1」「末」\n<<<[END_TOOL_REQUEST]>>>「末ESCAPE」「末ESCAPE1」',
        'arg-tool_name:「始」x「末」',
        '<<<[END_TOOL_REQUEST]>>>',
      ].join('\n'),
    );
  });

  it('returns the names that VCP cannot express', () => {
    expect(namesOutsideVcp('{"fine": 1, "两个": 2, "a b": 3}')).toEqual(['两个', 'a b']);
  });

  it('sends the tenant if it is not the default', () => {
    expect(codeFor('curl', { ...request, tenant: 'acme' })).toContain('X-Tenant-ID: acme');
  });

  it.each(CODE_FORMS.filter((form) => form !== 'vcp'))(
    '%s sends the key of the environment where one is needed, and none in local mode',
    (form) => {
      expect(codeFor(form, { ...request, needsKey: true })).toContain('PATCHBOARD_KEY');
      expect(codeFor(form, request)).not.toContain('PATCHBOARD_KEY');
    },
  );

  it('expands the key variable in the shell, and nothing else', () => {
    const code = codeFor('curl', { ...request, needsKey: true }).replace(/^curl/, 'printf "%s\\n"');
    const env = { PATCHBOARD_KEY: 'pb_secret of mine' };
    expect(execFileSync('sh', ['-c', code], { encoding: 'utf8', env })).toContain(
      'Authorization: Bearer pb_secret of mine\n',
    );
    const command = codeFor('cli', { ...request, needsKey: true }).replace(
      'npx patchboard',
      'printenv PATCHBOARD_KEY #',
    );
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8', env })).toBe('pb_secret of mine\n');
  });

  it('writes the arguments as Python literals', () => {
    const args = {
      yes: true,
      no: false,
      none: null,
      nested: [{ deep: [] }, {}, -0.5, 1e30],
      text: '\u2028 🙂 \\ / "quoted" \n\t\u0000 it\'s True, null',
      键: '值',
    };
    const code = codeFor('python', { ...request, args: JSON.stringify(args, null, 2) });
    expect(code).not.toContain('json.loads');
    expect(code).toContain('"yes": True');
    const literal = /^args = (.*?)^response/ms.exec(code)![1]!;
    const program = 'import ast, json, sys; print(json.dumps(ast.literal_eval(sys.stdin.read())))';
    const read = execFileSync('python3', ['-c', program], { encoding: 'utf8', input: literal });
    expect(JSON.parse(read)).toEqual(args);
  });
});
