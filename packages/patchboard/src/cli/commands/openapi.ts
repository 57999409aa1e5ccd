import type { CliContext } from '../context.ts';
import type { Registrar } from '../program.ts';
import { registerAccept } from './upstream-accept.ts';
import { registerOpenApiAdd } from './upstream-add.ts';
import { registerList } from './upstream-list.ts';
import { registerRemove } from './upstream-remove.ts';
import { registerRestart } from './upstream-restart.ts';

export function openApiCommand(context: CliContext): Registrar {
  return (program) => {
    const openapi = program
      .command('openapi')
      .description('HTTP APIs with an OpenAPI description, as tools of this server');
    registerOpenApiAdd(openapi, context);
    registerList(openapi, context, 'openapi');
    registerRemove(openapi, context, 'openapi');
    registerAccept(openapi, context, 'openapi');
    registerRestart(openapi, context, 'openapi');
  };
}
