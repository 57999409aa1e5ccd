import { reasonText, type RejectedTool } from '@patchboard/wire';
import { ToolFailure } from '../../core/failures.ts';
import type { UpstreamStatus, UpstreamTool } from '../../core/upstreams/upstream.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import { toolsOf, type DescriptionToolsParts } from './description-tools.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import type { Operation } from './operation.ts';
import { readDescription, type Description } from './read-description.ts';
import { serverUrl } from './server-url.ts';

/** What a description says about its API. */
export interface ListedApi {
  readonly tools: readonly UpstreamTool[];
  readonly rejected: readonly RejectedTool[];
  /** Such as `OpenAPI 3.1.0`. */
  readonly protocol: string;
  readonly server: UpstreamStatus['server'];
  /** The origin of the first operation's server; null: not known. */
  readonly address: string | null;
  /** Why the first operation has no usable server; null: it has one. */
  readonly serverProblem: string | null;
}

/** The text was read and is no usable description. */
export class UnusableDescription extends Error {
  override readonly name = 'UnusableDescription';
}

/** Converts the text of a description, without secret values. Throws `UnusableDescription`. */
export async function listApi(
  text: string,
  settings: OpenApiSettings,
  { mask, ...parts }: DescriptionToolsParts & { readonly mask: SecretMask },
): Promise<ListedApi> {
  const read = await readDescription(text);
  if (!read.ok) throw new UnusableDescription(reasonText(read.problem));
  const found = toolsOf(read.description, settings, parts);
  if (!found.ok) throw new UnusableDescription(reasonText(found.problem));
  const { title: name, version } = read.description.info;
  return {
    // `target` is not shown, and a call needs it as it is.
    tools: found.tools.map(({ target, ...shown }) => ({ ...(mask.value(shown) as typeof shown), target })),
    rejected: mask.value(found.rejected) as readonly RejectedTool[],
    protocol: `OpenAPI ${versionOf(read.description)}`,
    server: mask.value({ name, version }) as UpstreamStatus['server'],
    ...serverOf(settings, found.tools),
  };
}

function serverOf(
  settings: OpenApiSettings,
  [first]: readonly UpstreamTool[],
): Pick<ListedApi, 'address' | 'serverProblem'> {
  if (first === undefined) return { address: null, serverProblem: null };
  try {
    return { address: serverUrl(settings, first.target as Operation).origin, serverProblem: null };
  } catch (error) {
    if (error instanceof ToolFailure) return { address: null, serverProblem: error.message };
    throw error;
  }
}

/** As the description writes it. */
function versionOf({ document, version }: Description): string {
  const { openapi } = document;
  return typeof openapi === 'string' && /^3\.[01]\.\d{1,3}$/.test(openapi) ? openapi : version;
}
