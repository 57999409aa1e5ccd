import { clientSettings } from '../settings/environment.ts';

/** What the hints depend on. */
export interface FirstSteps {
  readonly url: string;
  readonly loginToken: string;
  /** Whether requests without a credential are accepted. */
  readonly isLocal: boolean;
  /** Whether `PATCHBOARD_OPERATOR_TOKEN` holds the operator token, so that the other terminal needs it too. */
  readonly hasConfiguredToken: boolean;
}

/** Returns the hints that a server prints on a terminal when it is ready. */
export function firstSteps(given: FirstSteps): string {
  const { url, loginToken, isLocal } = given;
  return `
  Sign in as operator (valid once, for an hour):
    ${url}/#login=${loginToken}

  ${(isLocal ? withoutCredential(given) : withKey(given)).join('\n    ')}

  Stop with Ctrl-C.
`;
}

function withoutCredential({ url }: FirstSteps): readonly string[] {
  return [
    'Try it in another terminal:',
    `npx patchboard call calculation.eval expression='(3+4)*6'${urlOption(url)}`,
    `curl ${url}/v1/tools`,
  ];
}

function withKey({ url, hasConfiguredToken }: FirstSteps): readonly string[] {
  return [
    'Every request needs a credential. In another terminal, create a key with the operator token:',
    ...(hasConfiguredToken ? ['export PATCHBOARD_OPERATOR_TOKEN=…   # as set for this server'] : []),
    `export PATCHBOARD_KEY=$(npx patchboard keys create --kind agent --name me${urlOption(url)})`,
    `npx patchboard call calculation.eval expression='(3+4)*6'${urlOption(url)}`,
    `curl -H "Authorization: Bearer $PATCHBOARD_KEY" ${url}/v1/tools`,
  ];
}

/** `PORT` may not be set in the other terminal, so the command needs the URL unless it is the default. */
function urlOption(url: string): string {
  return url === clientSettings({}).url ? '' : ` --url ${url}`;
}
