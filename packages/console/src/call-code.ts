import { shellQuoted } from '@patchboard/wire';
import { formatRequest, isArgumentName } from '@patchboard/wire/vcp';
import { parseTree } from 'jsonc-parser';
import { commandFor } from './command.ts';
import { pythonLiteral } from './python-literal.ts';

export const CODE_FORMS = ['curl', 'cli', 'typescript', 'python', 'vcp'] as const;

export type CodeForm = (typeof CODE_FORMS)[number];

export interface CodeRequest {
  readonly url: string;
  readonly tenant: string;
  /** Whether the server requires a credential: the code then sends `PATCHBOARD_KEY` from its environment. */
  readonly needsKey: boolean;
  readonly tool: string;
  /** JSON text. */
  readonly args: string;
}

const RUN = 'from-the-console';

/** Returns code that makes the same call. */
export function codeFor(form: CodeForm, request: CodeRequest): string {
  switch (form) {
    case 'curl':
      return curl(request);
    case 'cli':
      return cli(request);
    case 'typescript':
      return typescript(request);
    case 'python':
      return python(request);
    case 'vcp':
      return vcp(request);
  }
}

function cli({ url, needsKey, tool, args }: CodeRequest): string {
  const key = needsKey ? 'PATCHBOARD_KEY="$PATCHBOARD_KEY" ' : '';
  return key + commandFor(`call ${shellQuoted(tool)} --args ${shellQuoted(compact(args))}`, url);
}

function curl({ url, tenant, needsKey, tool, args }: CodeRequest): string {
  const headers = [
    `-H 'Content-Type: application/json' -H 'Prefer: wait=30'`,
    ...(needsKey ? [`-H "Authorization: Bearer $PATCHBOARD_KEY"`] : []),
    ...(tenant === 'default' ? [] : [`-H ${shellQuoted(`X-Tenant-ID: ${tenant}`)}`]),
  ];
  return (
    `curl -X POST ${shellQuoted(`${url}/v1/tools/${encodeURIComponent(tool)}/invoke`)} \\\n` +
    headers.map((header) => `  ${header} \\\n`).join('') +
    `  -d ${shellQuoted(`{"run_id":"${RUN}","args":${compact(args)}}`)}`
  );
}

function typescript({ url, tenant, needsKey, tool, args }: CodeRequest): string {
  const options = [
    `url: ${JSON.stringify(url)}`,
    ...(needsKey ? [`key: process.env['PATCHBOARD_KEY'] ?? ''`] : []),
    ...(tenant === 'default' ? [] : [`headers: { 'x-tenant-id': ${JSON.stringify(tenant)} }`]),
  ];
  return (
    `import { createClient } from '@patchboard/client';\n\n` +
    `const client = createClient({ ${options.join(', ')} });\n` +
    `const call = await client.call(${JSON.stringify(tool)}, ${args.trim()});\n` +
    `console.log(call.result);\n`
  );
}

function python({ url, tenant, needsKey, tool, args }: CodeRequest): string {
  const headers = [
    '"Prefer": "wait=30"',
    ...(needsKey ? ['"Authorization": "Bearer " + os.environ["PATCHBOARD_KEY"]'] : []),
    ...(tenant === 'default' ? [] : [`"X-Tenant-ID": ${JSON.stringify(tenant)}`]),
  ];
  return (
    `import ${needsKey ? 'os, ' : ''}requests\n\n` +
    `args = ${pythonLiteral(args)}\n` +
    `response = requests.post(\n` +
    `    ${JSON.stringify(`${url}/v1/tools/${encodeURIComponent(tool)}/invoke`)},\n` +
    `    json={"run_id": "${RUN}", "args": args},\n` +
    `    headers={${headers.join(', ')}},\n` +
    `)\n` +
    `print(response.json())\n`
  );
}

function vcp({ tool, args }: CodeRequest): string {
  return formatRequest({ toolName: tool, args: Object.fromEntries(membersOf(args)) });
}

/** Argument names that VCP cannot express. */
export function namesOutsideVcp(args: string): string[] {
  return membersOf(args).flatMap(([name]) => (isArgumentName(name) ? [] : [name]));
}

/** Returns strings unchanged and other values as their JSON source text, so that numbers keep every digit. */
function membersOf(args: string): (readonly [name: string, text: string])[] {
  return (parseTree(args)?.children ?? []).flatMap(({ type, children }) => {
    const [name, value] = children ?? [];
    if (type !== 'property' || name === undefined || value === undefined) return [];
    const source = args.slice(value.offset, value.offset + value.length);
    return [[String(name.value), value.type === 'string' ? String(value.value) : compact(source)] as const];
  });
}

/** The JSON on one line, otherwise unchanged: numbers keep every digit. */
function compact(args: string): string {
  let isInString = false;
  let out = '';
  for (let at = 0; at < args.length; at += 1) {
    const char = args.charAt(at);
    if (char === '\\' && isInString) {
      out += char + args.charAt((at += 1));
      continue;
    }
    if (char === '"') isInString = !isInString;
    if (isInString || !/\s/.test(char)) out += char;
  }
  return out;
}
