/**
 * The members of interfaces and classes, their own and inherited ones.
 *
 * @module
 */

import {
  type ClassDeclaration,
  type InterfaceDeclaration,
  Node,
  type TypeElementTypes,
} from 'ts-morph'
import { commentOf } from './comments.ts'
import { isOurs } from './entries.ts'
import { callOf, oneLine } from './signature.ts'

/** One member. */
export interface Member {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly isMethod: boolean
  readonly comment: string
}

/** In the order of the source: inherited members come after own ones. */
export function membersOf(declaration: InterfaceDeclaration | ClassDeclaration): Member[] {
  if (Node.isClassDeclaration(declaration)) return classMembers(declaration)
  const own = declaration.getMembers().flatMap((member) => memberOf(member))
  const bases = declaration
    .getBaseDeclarations()
    .filter((base) => Node.isInterfaceDeclaration(base) && isOurs(base))
    .flatMap((base) => membersOf(base as InterfaceDeclaration))
  const inherited = bases.filter(({ name }) => own.every((member) => member.name !== name))
  return [...own, ...inherited]
}

function memberOf(member: TypeElementTypes): Member[] {
  const comment = commentOf(member as object)
  if (Node.isMethodSignature(member)) {
    const type = callOf(member.getName(), member)
    return [
      {
        name: member.getName(),
        type,
        isOptional: member.hasQuestionToken(),
        isMethod: true,
        comment,
      },
    ]
  }
  if (Node.isPropertySignature(member)) {
    const type = oneLine(member.getTypeNode()?.getText() ?? 'unknown')
    return [
      {
        name: member.getName(),
        type,
        isOptional: member.hasQuestionToken(),
        isMethod: false,
        comment,
      },
    ]
  }
  const type = oneLine(member.getText())
  return [{ name: type, type, isOptional: false, isMethod: true, comment }]
}

function classMembers(declaration: ClassDeclaration): Member[] {
  const constructors = declaration
    .getConstructors()
    .slice(0, 1)
    .map((made) => ({
      name: 'constructor',
      type: callOf(`new ${declaration.getName()}`, made),
      isOptional: false,
      isMethod: true,
      comment: commentOf(made),
    }))
  const members = declaration.getInstanceMembers().flatMap((member) => {
    if (member.getScope() !== 'public' || member.getName().startsWith('#')) return []
    if (Node.isMethodDeclaration(member)) {
      const type = callOf(member.getName(), member)
      return [
        {
          name: member.getName(),
          type,
          isOptional: false,
          isMethod: true,
          comment: commentOf(member),
        },
      ]
    }
    // An error's `name` is that of its class.
    if (!Node.isPropertyDeclaration(member) || member.getName() === 'name') return []
    const value = member.getInitializer()?.getText()
    const type = oneLine(member.getTypeNode()?.getText() ?? value ?? 'unknown')
    return [
      {
        name: member.getName(),
        type,
        isOptional: member.hasQuestionToken(),
        isMethod: false,
        comment: commentOf(member),
      },
    ]
  })
  return [...constructors, ...members]
}
