/* Hand-over: a process that appends gives what it has committed to its own relay's memory. The code does not do it yet.

   One bucket with two keys. A producer locks its aggregate, appends (draws the sequence and gets a report: which
   older messages of the bucket are committed and not settled), commits, lets go of the lock, and hands over what it
   knows to be committed; it may be slow anywhere. The worker that holds the bucket has one queue, for what it accepts
   and for what it reads, and knows what it has published and not settled. A publish may fail: then the key waits for
   its retry. Another relay takes the bucket over when the lease has run out.

   Switches (-DNAME=value), defaults as planned:
   P 2 (producers), N 3 (messages)
   REPORT  1  0: what is reported is not asked for; 2: the report is of before the aggregate was locked
   KNOWN   1  0: it is handed over before the commit
   QUEUES  1  2: what a read brings has a queue of its own, and waits; 3: and goes first
   FAILED  1  0: what is behind a message that failed stays in the queue
   AGAIN   1  0: what was accepted while the read was on its way is queued again
   BLOCKED 1  0: messages are accepted while a key of the bucket waits for its retry
   LOST    1  0: the queue stays when the lease is lost                                                        */
#ifndef P
#define P 2
#endif
#ifndef N
#define N 3
#endif
#ifndef REPORT
#define REPORT 1
#endif
#ifndef KNOWN
#define KNOWN 1
#endif
#ifndef QUEUES
#define QUEUES 1
#endif
#ifndef FAILED
#define FAILED 1
#endif
#ifndef AGAIN
#define AGAIN 1
#endif
#ifndef BLOCKED
#define BLOCKED 1
#endif
#ifndef LOST
#define LOST 1
#endif
#define BIT(i) (1<<(i))
#define ABSENT 0
#define OPEN 1
#define THERE 2         /* committed, not settled */
#define GONE 3          /* settled */

byte st[N]; bit key[N]; byte next;
bool lock[2];
byte first;                             /* by bit: was delivered */
bool ours = 1;                          /* this relay holds the bucket, or the other one */
byte known;                             /* by bit, in memory: in a queue, or published and not settled */
byte queue[N]; byte qlen;
byte batch;                             /* by bit: the queue of reads, where that is another */
byte sent;                              /* by bit: published, not settled */
byte blocked;                           /* by bit, a key: a message of it failed, as stored */

inline committed(set) { set=0; j=0; do :: j<N -> if :: st[j]==THERE -> set=set|BIT(j) :: else fi; j++ :: else -> break od; j=0 }

/* O1: what is delivered first of a key has all before it delivered */
inline deliver(i) {
  j=0; do :: j<i -> assert(!(st[j]==THERE && key[j]==key[i] && !(first & BIT(j)))); j++ :: else -> break od; j=0;
  assert(st[i]!=ABSENT && st[i]!=OPEN);
  first=first|BIT(i) }

inline push(i) { queue[qlen]=i; qlen++; known=known|BIT(i) }

inline pop(i) { i=queue[0]; j=0; do :: j+1<N -> queue[j]=queue[j+1]; j++ :: else -> queue[N-1]=0; break od; j=0; qlen-- }

inline accept(i, rep) {
  if :: ours && (blocked==0 || !BLOCKED) && (REPORT==0 || (rep & ~known)==0) && (known & BIT(i))==0 && qlen<N -> push(i) :: else fi }

/* takes the key out of the queue */
inline drop(k) {
  b=qlen; do :: b>0 -> pop(n); if :: key[n]==k -> known=known & ~BIT(n) :: else -> push(n) fi; b-- :: else -> break od; n=0;
  do :: n<N -> if :: (batch & BIT(n)) && key[n]==k -> batch=batch & ~BIT(n); known=known & ~BIT(n) :: else fi; n++ :: else -> break od; n=0 }

inline publish(i) {
  if
  :: assert(!(sent & BIT(i))); deliver(i); sent=sent|BIT(i)
  :: blocked=blocked|BIT(key[i]); known=known & ~BIT(i); if :: FAILED -> drop(key[i]) :: else fi
  fi }

proctype Producer() { byte i, j, rep, early; bit k;
  do
  :: atomic { next<N -> committed(early); if :: k=0 :: k=1 fi };
     atomic { !lock[k] -> lock[k]=1 };
     if
     :: atomic { next<N -> i=next; next++; st[i]=OPEN; key[i]=k; committed(rep); if :: REPORT==2 -> rep=early :: else fi; early=0 }
     :: atomic { next>=N -> lock[k]=0; goto done }
     fi;
#if KNOWN==0
     atomic { accept(i, rep) };
#endif
     if
     :: atomic { st[i]=THERE; lock[k]=0 };
        if :: atomic { accept(i, rep) } :: skip fi                            /* or the outcome is not known */
     :: atomic { st[i]=ABSENT; lock[k]=0 }
     fi;
     atomic { i=0; rep=0 }
  od;
done: skip }

/* This relay: one thing after the other. A key that waits is not read until its time has come. */
proctype Worker() { byte i, j, b, n;
  do
  :: atomic { ours && qlen>0 && (QUEUES!=3 || batch==0) -> pop(i); publish(i); i=0 }
  :: atomic { ours && batch!=0 && (QUEUES==3 || qlen==0) ->
       do :: (batch & BIT(i))==0 -> i++ :: else -> break od; batch=batch & ~BIT(i); publish(i); i=0 }
  :: atomic { ours && batch==0 -> committed(b); b=b & ~known; i=0; do :: i<N -> b=((blocked & BIT(key[i])) -> b & ~BIT(i) : b); i++ :: else -> break od; i=0;
       if :: b!=0 -> do :: (b & BIT(i))==0 -> i++ :: else -> break od; b=b & BIT(i); i=0 :: skip fi };   /* the first, or all */
     atomic { b=(AGAIN -> b & ~known : b);                                    /* what it read has come; some was accepted meanwhile */
       do :: i<N -> if :: ours && (b & BIT(i)) && qlen<N -> if :: QUEUES==1 -> push(i) :: else -> batch=batch|BIT(i); known=known|BIT(i) fi :: else fi; i++ :: else -> break od;
       b=0; i=0 }
  :: atomic { ours && blocked!=0 -> blocked=0 }                               /* the time of the retry has come */
  :: atomic { ours && sent!=0 -> do :: i<N -> st[i]=((sent & BIT(i)) && st[i]==THERE -> GONE : st[i]); i++ :: else -> break od; i=0; known=known & ~sent; sent=0 }
  :: atomic { !ours -> ours=1; if :: LOST -> known=0; qlen=0; batch=0; sent=0; do :: i<N -> queue[i]=0; i++ :: else -> break od; i=0 :: else fi }
  od }

proctype Other() { byte i, j;
  do
  :: atomic { ours -> ours=0 }                                                /* the lease ran out */
  :: atomic { !ours -> do :: i<N && st[i]!=THERE -> i++ :: else -> break od;  /* the oldest, settled or not */
       if :: i<N -> deliver(i); blocked=0; if :: st[i]=GONE :: skip fi :: else fi; i=0 }
  od }

init { atomic { byte p; do :: p<P -> run Producer(); p++ :: else -> break od; run Worker(); run Other() } }
