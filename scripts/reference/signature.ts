/**
 * Declarations as readers see them: without bodies, comments and default values.
 *
 * @module
 */

import {
  type ConstructorDeclaration,
  type ExpressionWithTypeArguments,
  type FunctionDeclaration,
  type MethodDeclaration,
  type MethodSignature,
  Node,
  type ParameterDeclaration,
} from 'ts-morph'
import { type Declaration, isOurs } from './entries.ts'

const WIDTH = 100

type Callable = FunctionDeclaration | MethodDeclaration | MethodSignature | ConstructorDeclaration

/** One declaration, as a block of code. */
export function signatureOf(declaration: Declaration): string {
  if (Node.isFunctionDeclaration(declaration)) return functionOf(declaration)
  if (Node.isVariableDeclaration(declaration)) {
    return `const ${declaration.getName()}: ${typeText(declaration.getTypeNode())}`
  }
  if (Node.isTypeAliasDeclaration(declaration)) {
    const head = `type ${declaration.getName()}${typeParameters(declaration)}`
    return `${head} =${unionOf(typeText(declaration.getTypeNode()))}`
  }
  const kind = Node.isClassDeclaration(declaration) ? 'class' : 'interface'
  const bases = Node.isClassDeclaration(declaration)
    ? [declaration.getExtends()].filter((base) => base !== undefined)
    : declaration.getExtends().filter((base) => !isListed(base))
  const extended =
    bases.length > 0 ? ` extends ${bases.map((base) => base.getText()).join(', ')}` : ''
  return `${kind} ${declaration.getName()}${typeParameters(declaration)}${extended}`
}

/** Whether the members of a base are listed with those of the interface. */
function isListed(base: ExpressionWithTypeArguments): boolean {
  const declarations = base.getExpression().getType().getSymbol()?.getDeclarations() ?? []
  return declarations.some((one) => Node.isInterfaceDeclaration(one) && isOurs(one))
}

function functionOf(declaration: FunctionDeclaration): string {
  const head = `function ${declaration.getName()}${typeParameters(declaration)}`
  const parameters = declaration.getParameters().map(parameterOf)
  const end = `: ${typeText(declaration.getReturnTypeNode())}`
  const line = `${head}(${parameters.join(', ')})${end}`
  if (line.length <= WIDTH && !line.includes('\n')) return line
  const lines = parameters.map((parameter) => `  ${parameter.replaceAll('\n', '\n  ')},`)
  return `${head}(\n${lines.join('\n')}\n)${end}`
}

/** A member that is called: `find(read: Read): Promise<Fields[]>`. */
export function callOf(name: string, method: Callable): string {
  const parameters = method.getParameters().map(parameterOf).join(', ')
  const optional = Node.isMethodSignature(method) && method.hasQuestionToken() ? '?' : ''
  const generics = Node.isConstructorDeclaration(method) ? '' : typeParameters(method)
  const result = Node.isConstructorDeclaration(method) ? undefined : method.getReturnTypeNode()
  return oneLine(
    `${name}${optional}${generics}(${parameters})${result ? `: ${result.getText()}` : ''}`,
  )
}

function parameterOf(parameter: ParameterDeclaration): string {
  const pattern = parameter.getNameNode()
  const name = Node.isIdentifier(pattern) ? pattern.getText() : 'options'
  const rest = parameter.isRestParameter() ? '...' : ''
  const optional = parameter.isOptional() && !rest ? '?' : ''
  const node = parameter.getTypeNode()
  const type = node ? typeText(node) : parameter.getType().getBaseTypeOfLiteralType().getText()
  return `${rest}${name}${optional}: ${type}`
}

function typeParameters(node: { getTypeParameters(): Node[] }): string {
  const parameters = node.getTypeParameters().map((parameter) => oneLine(parameter.getText()))
  return parameters.length > 0 ? `<${parameters.join(', ')}>` : ''
}

/** A union over several lines, one type on each. */
function unionOf(text: string): string {
  if (!text.startsWith('| ')) return ` ${text}`
  return text.includes('\n') ? `\n  ${text.replaceAll('\n', '\n  ')}` : ` ${text.slice(2)}`
}

/** A type's source, with the indentation of its own alone. */
function typeText(node: Node | undefined): string {
  if (!node) return 'unknown'
  const text = withoutComments(node.getText())
  const indents = text
    .split('\n')
    .slice(1)
    .map((line) => line.search(/\S|$/))
  const least = indents.length > 0 ? Math.min(...indents) : 0
  return text.replaceAll(new RegExp(`\n {${least}}`, 'g'), '\n')
}

function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*\*[\s\S]*?\*\/\n|^\s*\/\/.*\n/gm, '')
}

/** A type or member within a sentence or a table. */
export function oneLine(text: string): string {
  return (
    withoutComments(text)
      .replace(/\/\*\*[\s\S]*?\*\//g, '')
      // The members of an object, which stood on lines of their own.
      .replace(/(?<=[\w\])>'"])\n\s*(?=(?:readonly )?[\w'[\]]+\??[:(])/g, '; ')
      .replace(/\s+/g, ' ')
      .replace(/\{ \| /g, '{ ')
      .replace(/^\| /, '')
      .replace(/,(?= [)\]}>])/g, '')
      .trim()
  )
}
