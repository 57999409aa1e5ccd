import { reason } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SCOPES_OF_KIND } from '../../core/access/scopes.ts';
import { failure } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { baseUrlOf, METADATA_PATH } from '../shared/routes/challenge.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { listOf, object, TEXT } from '../shared/routes/schemas.ts';

/** Path of the MCP endpoint, which is an OAuth protected resource. */
export const MCP_PATH = '/mcp';

/** RFC 9728. Clients try the path of the endpoint first, and then the root. */
const metadataRoute: Route = {
  method: 'GET',
  url: `${METADATA_PATH}${MCP_PATH}`,
  name: 'protectedResource',
  api: 'mcp',
  summary: 'OAuth metadata of `/mcp` (RFC 9728): the issuer of its tokens. 404 without `auth.jwt`.',
  scope: null,
  responses: {
    200: {
      description: 'the metadata',
      schema: object({
        resource: {
          ...TEXT,
          description: 'URL of the MCP endpoint, and the audience that tokens should have',
        },
        authorization_servers: listOf(TEXT),
        scopes_supported: listOf(TEXT),
        bearer_methods_supported: listOf(TEXT),
        resource_name: TEXT,
      }),
    },
  },
  refusals: ['route_not_found'],
  handle: sendMetadata,
};

const rootMetadataRoute: Route = { ...metadataRoute, url: METADATA_PATH, name: 'protectedResourceAtRoot' };

export const protectedResourceRoutes: readonly Route[] = [metadataRoute, rootMetadataRoute];

/** Without an issuer there is no document: clients would look for an authorization server that does not exist. */
function sendMetadata({ resources }: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  const { jwtIssuer } = resources;
  if (jwtIssuer === null) {
    sendProblem(
      reply,
      failure('route_not_found', reason('jwt_issuer_missing'), {
        recommendations: ['send a key as the bearer token; OAuth needs auth.jwt in the config file'],
      }),
    );
    return;
  }
  const metadata = {
    resource: `${baseUrlOf(request, resources)}${MCP_PATH}`,
    authorization_servers: [jwtIssuer],
    scopes_supported: SCOPES_OF_KIND.agent,
    bearer_methods_supported: ['header'],
    resource_name: 'Patchboard',
  };
  sendJson(reply, 200, JSON.stringify(metadata));
}
