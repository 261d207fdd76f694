/**
 * `fieldgate/mcp`: tools for agents, by the Model Context Protocol.
 *
 * @module
 */

export { type McpOptions, mcp } from './mcp.ts'
