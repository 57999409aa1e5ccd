import type { McpUpstreamConfig, OAuthConfig, SecurityConfig, UpstreamsConfig } from './upstream-config.ts';

/** A problem at a path of a config. */
export interface PlaceProblem {
  readonly place: readonly string[];
  /** It follows the name of the place. */
  readonly message: string;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,23}$/;
/** The first part of the names of tools that Patchboard itself has. */
const RESERVED = 'patchboard';

const HTTP_KEYS = ['headers', 'auth'] as const;
const STDIO_KEYS = ['args', 'env', 'cwd', 'sandbox'] as const;

/** Returns why this cannot be the name of an upstream; null if it can. */
export function upstreamNameProblem(name: string): string | null {
  if (name === RESERVED) return `is a reserved name`;
  if (NAME.test(name)) return null;
  return 'is not a name of an upstream: 1 to 24 characters of a-z, 0-9, _ and -, of which the first is a letter or digit';
}

/** Returns the problems that the schema cannot express and that do not depend on the environment. */
export function upstreamProblems({ upstreams = {}, openapi = {} }: UpstreamsConfig): PlaceProblem[] {
  return [
    ...Object.entries(upstreams).flatMap(([name, config]) => mcpProblems(name, config)),
    ...Object.entries(openapi).flatMap(([name, { security = {} }]) => [
      ...nameProblems(['openapi', name]),
      ...(Object.hasOwn(upstreams, name)
        ? [{ place: ['openapi', name], message: 'has the name of an upstream in upstreams; choose another' }]
        : []),
      ...Object.entries(security).flatMap(([scheme, one]) =>
        securityProblems(['openapi', name, 'security', scheme], one),
      ),
    ]),
  ];
}

function nameProblems(place: readonly string[]): PlaceProblem[] {
  const message = upstreamNameProblem(place.at(-1) ?? '');
  return message === null ? [] : [{ place, message }];
}

function mcpProblems(name: string, config: McpUpstreamConfig): PlaceProblem[] {
  const place = ['upstreams', name];
  const problems = nameProblems(place);
  if ((config.url === undefined) === (config.command === undefined))
    return [...problems, { place, message: 'needs exactly one of url and command' }];
  const [foreign, needs] =
    config.url === undefined ? ([HTTP_KEYS, 'url'] as const) : ([STDIO_KEYS, 'command'] as const);
  for (const key of foreign)
    if (config[key] !== undefined)
      problems.push({ place: [...place, key], message: `is for upstreams with ${needs}` });
  const { auth, headers = {} } = config;
  if (auth === undefined) return problems;
  problems.push(...oauthProblems([...place, 'auth'], auth));
  const header = Object.keys(headers).find((key) => key.toLowerCase() === 'authorization');
  if (header !== undefined)
    problems.push({ place: [...place, 'headers', header], message: 'cannot be set together with auth' });
  return problems;
}

function oauthProblems(place: readonly string[], config: OAuthConfig): PlaceProblem[] {
  const { client_credentials: credentials, private_key_jwt: jwt } = config;
  if ((credentials === undefined) === (jwt === undefined))
    return [{ place, message: 'needs exactly one of client_credentials and private_key_jwt' }];
  if (jwt !== undefined && (jwt.key_env === undefined) === (jwt.key_file === undefined))
    return [{ place: [...place, 'private_key_jwt'], message: 'needs exactly one of key_env and key_file' }];
  return [];
}

function securityProblems(place: readonly string[], config: SecurityConfig): PlaceProblem[] {
  const both = (['value', 'username', 'password'] as const).find(
    (key) => config[key] !== undefined && config[`${key}_env`] !== undefined,
  );
  if (both !== undefined) return [{ place, message: `has both ${both} and ${both}_env; remove one` }];
  const hasValue = (config.value ?? config.value_env) !== undefined;
  const hasUser = (config.username ?? config.username_env) !== undefined;
  const hasPassword = (config.password ?? config.password_env) !== undefined;
  const hasOAuth = (config.client_credentials ?? config.private_key_jwt) !== undefined;
  const kinds = [hasValue, hasUser || hasPassword, hasOAuth].filter(Boolean).length;
  if (kinds !== 1)
    return [
      {
        place,
        message:
          'needs exactly one of: value_env; username_env with password_env; client_credentials; private_key_jwt',
      },
    ];
  if (hasOAuth) return oauthProblems(place, config);
  if (hasUser !== hasPassword)
    return [{ place, message: `needs ${hasUser ? 'password_env' : 'username_env'} too` }];
  return [];
}
