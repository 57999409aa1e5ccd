import { clientSettings } from '../settings/environment.ts';

/** Returns the hints that a server prints on a terminal when it is ready. */
export function firstSteps(url: string, loginToken: string): string {
  // PORT may not be set in the other terminal, so the command needs the URL unless it is the default.
  const where = url === clientSettings({}).url ? '' : ` --url ${url}`;
  return `
  Sign in as operator (valid once, for an hour):
    ${url}/#login=${loginToken}

  Try it in another terminal:
    npx patchboard call calculation.eval expression='(3+4)*6'${where}
    curl ${url}/v1/tools

  Stop with Ctrl-C.
`;
}
