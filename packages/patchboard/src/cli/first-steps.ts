import { clientSettings } from '../settings/environment.ts';

/** What a person at a terminal may do with a server that is ready. */
export function firstSteps(url: string, loginToken: string): string {
  // Another terminal knows nothing of this one's PORT: a command finds the usual address by itself, and no other.
  const where = url === clientSettings({}).url ? '' : ` --url ${url}`;
  return `
  Sign in as operator (works once, for an hour):
    ${url}/#login=${loginToken}

  Try it in another terminal:
    npx patchboard call calculation.eval expression='(3+4)*6'${where}
    curl ${url}/v1/tools

  Stop with Ctrl-C.
`;
}
