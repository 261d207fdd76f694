/* @ts-self-types="./node.d.ts" */
/**
 * Responses on Node: srvx's, which stay plain values until someone looks inside. The global one costs more than
 * all the rest of a request.
 *
 * @module
 */

import { FastResponse } from 'srvx/node'

export const Response = FastResponse
