/* The certified sequence C of a store (CertifiedSequences), and the low-water mark of one bucket that follows it (LowWaterMark).

   C: every row with a lower sequence is visible to each later snapshot, or never will be. W writers lock the table,
   draw a transaction id, then a sequence, then commit or roll back; any may stall anywhere. Two workers of one store
   share C. One holds the bucket; the other takes it over when the lease has run out; both certify all the time. The
   first statement of a worker's transaction samples L, the next sequence; the second draws its id X, and leases or
   settles; the third reads. Once a read's own snapshot says that all other transactions up to X are over, C is at
   least L. Whoever deletes by range looks at the count of rows, and rolls back when it is another one.

   Switches (-DNAME=value), defaults as the code is:
   W 2, NS 3 (sequences), MAXX 6 (bound on ids)
   RULE      1  2: the id is drawn before the sample; 3: a read uses the C that is known when it returns; 4: the horizon
                is that of a later statement than the read; 5: what was read is passed, certified or not
   SEQFIRST  0  1: a writer draws its sequence before its id (the column txid stands after seq)
   AHEAD     0  1: a second mark that passes what is certified but for the transactions that a snapshot names, valid
                while they are open; 2: whoever of them is over; 3: the snapshot is asked about ids beyond its limit;
                4: who is open is asked in a statement before the read
   RANGE     1  0: no range delete; 2: of all that was read, certified or not; 3: without a look at the count; 4: both
   OPDEL     0  1: an operator deletes a row
   FAIL      0  1: a failover to a copy that lags behind; 2: the mark is kept over it; 3: C is                       */
#ifndef W
#define W 2
#endif
#ifndef NS
#define NS 3
#endif
#ifndef MAXX
#define MAXX 6
#endif
#ifndef RULE
#define RULE 1
#endif
#ifndef SEQFIRST
#define SEQFIRST 0
#endif
#ifndef AHEAD
#define AHEAD 0
#endif
#ifndef RANGE
#define RANGE 1
#endif
#ifndef OPDEL
#define OPDEL 0
#endif
#ifndef FAIL
#define FAIL 0
#endif
#define NO 99
#define ABSENT 0
#define OPEN 1          /* inserted, not committed */
#define PEND 2
#define OUT 3           /* gone */
#define NOBODY 2

byte row[NS]; bool told[NS];            /* told: the broker has it, or an operator deleted it */
byte nextSeq, nextX = 1;
byte wx[W]; byte rx[2];                 /* ids of running transactions, or NO */
byte low; byte holder = NOBODY; bool expired;
bit era;                                /* of the server: 1 after the failover */
byte cert, pl, px; bit certEra;         /* of the store, in memory: C, the pair that waits, and their era */
byte mlow[2]; bit mEra[2]; bool mine[2];/* in a worker's memory: its mark, and whether it thinks that it holds the bucket */
bool deleted;
#if AHEAD
byte over;                              /* the limit of snapshots: behind the last id that is over */
byte aSeq, aX, bel, bOpen;              /* of the store: the sample of the last question; C but for the ids in bOpen */
byte lowA, openA;                       /* stored: the mark ahead, the ids that must be open */
byte alow[2], aopen[2];                 /* in a worker's memory */
#endif
#if FAIL
byte crow[NS]; byte cSeq, cX, cLow, cHolder; byte copied;
#endif

#if AHEAD
#define ENDS(id) over=(id!=NO && id>=over -> id+1 : over)
#else
#define ENDS(id) skip
#endif
proctype Writer(byte w) { byte s; bit was;
end:
  do
  :: atomic { nextSeq<NS && nextX<MAXX-1 -> was=era; s=NO };
#if SEQFIRST
     if :: atomic { era==was && nextSeq<NS -> s=nextSeq; nextSeq++ } :: era!=was || nextSeq>=NS -> goto ends fi;
     if :: atomic { era==was && nextX<MAXX-1 -> wx[w]=nextX; nextX++; row[s]=OPEN } :: era!=was || nextX>=MAXX-1 -> s=NO fi;
#else
     if :: atomic { era==was && nextX<MAXX-1 -> wx[w]=nextX; nextX++ } :: era!=was || nextX>=MAXX-1 -> goto ends fi;
     if :: atomic { era==was && nextSeq<NS -> s=nextSeq; nextSeq++; row[s]=OPEN } :: skip fi;     /* or a writer of something else */
#endif
ends:
     atomic { if :: era==was -> ENDS(wx[w]); wx[w]=NO; if :: s!=NO -> if :: row[s]=PEND :: row[s]=ABSENT fi :: else fi :: else fi;
        s=0; was=0 }
  od }

inline theHorizon() {
  h=nextX; do :: i<W -> h=(wx[i]<h -> wx[i] : h); i++ :: else -> break od; i=0;
  h=(rx[1-me]<h -> rx[1-me] : h) }

#if AHEAD
/* the ids of transactions that are open, but for one's own */
inline theOpen() {
  open=0; do :: i<W -> open=(wx[i]!=NO -> open|(1<<wx[i]) : open); i++ :: else -> break od; i=0;
  open=(rx[1-me]!=NO -> open|(1<<rx[1-me]) : open) }
#define START alow[me]
#else
#define START mlow[me]
#endif

/* the first of the mark on, one or all */
inline readOn() {
  if :: lim=1 :: lim=NS fi; i=START;
  do :: i<NS && lim>0 -> if :: row[i]==PEND -> have[i]=1; lim--; top=i+1 :: else fi; i++ :: else -> break od;
  cut=(lim==0); i=0; lim=0 }

inline forget() { i=0; do :: i<NS -> have[i]=0; i++ :: else -> break od; i=0; mlow[me]=0; mine[me]=0; to=0; bound=0
#if AHEAD
  ; alow[me]=0; aopen[me]=0; ato=0; nopen=0; beside=0
#endif
  }

#if AHEAD
#define ATO ato=(i<ato -> i : ato);
#define WHILE_OPEN ((beside & ~open)==0)
#else
#define ATO
#define WHILE_OPEN true
#endif
/* what was read is delivered, all or the first, or stays as it is; the mark follows */
inline settle() {
  if :: lim=0 :: lim=1 :: lim=NS fi;
  do :: i<NS -> if :: have[i] && lim>0 -> told[i]=(mEra[me]==era -> 1 : told[i]); n++; lim-- :: have[i] && lim==0 -> have[i]=0; to=(i<to -> i : to); ATO bound=0 :: else fi; i++ :: else -> break od; i=0;
#if AHEAD
  theOpen();
#endif
  if :: bound>0 && WHILE_OPEN -> i=START; do :: i<bound -> cnt=(row[i]==PEND -> cnt+1 : cnt); i++ :: else -> break od; i=0 :: else fi;
  if :: bound>0 && WHILE_OPEN && (cnt==n || RANGE==3 || RANGE==4) -> i=START; do :: i<bound -> row[i]=(row[i]==PEND -> OUT : row[i]); have[i]=0; i++ :: else -> break od
     :: else -> do :: i<NS -> row[i]=(have[i] && row[i]==PEND -> OUT : row[i]); have[i]=0; i++ :: else -> break od fi;
  i=0; n=0; cnt=0; lim=0; bound=0; mlow[me]=(to>mlow[me] -> to : mlow[me]); to=0
#if AHEAD
  ; alow[me]=(ato>alow[me] -> ato : alow[me]); alow[me]=(alow[me]>mlow[me] -> alow[me] : mlow[me]); aopen[me]=(alow[me]>mlow[me] -> nopen : 0); ato=0; nopen=0; beside=0; open=0
#endif
  }

#if AHEAD
#define UNREAD(n) (row[n]==PEND && !have[n] && n<to)
#define LOWER lowA=low; openA=0;
#define NOT_BESIDE bel=0; bOpen=0; aSeq=0; aX=0
#define BESIDE kb=bel; ko=bOpen;
#define STORE lowA=alow[me]; openA=aopen[me];
#define LOAD alow[me]=lowA; aopen[me]=openA;
#define AGAIN kb=0; ko=0; open=0;
#define HORIZON ; h=(alone -> 0 : h)
#define ENDED ENDS(rx[me]);
#else
#define LOWER
#define AGAIN
#define HORIZON
#define ENDED
#define NOT_BESIDE skip
#define BESIDE
#define STORE
#define LOAD
#endif
proctype Worker(bit me) { bool have[NS]; byte i, lim, top, h, smp, known, to, bound, x, n, cnt; bool cut; bit tEra;
#if AHEAD
  byte kb, ko, open, ato, nopen, beside; bit alone;
#endif
again:
  do
  :: atomic { nextX<MAXX -> tEra=era;                                        /* the first statement */
        if :: certEra!=era && FAIL!=3 -> certEra=era; cert=0; pl=0; px=0; NOT_BESIDE :: else fi;
        known=cert; BESIDE
#if RULE==2
        x=nextX; nextX++; rx[me]=x };
     atomic { if :: tEra!=era -> known=0; x=0; goto again :: else fi; smp=nextSeq;
#else
        smp=nextSeq };
     atomic { if :: tEra!=era || nextX>=MAXX -> AGAIN known=0; smp=0; goto again :: else fi; x=nextX; nextX++; rx[me]=x;      /* the second */
#endif
        if :: mine[me] && (holder!=me || (mEra[me]!=era && FAIL!=2)) -> forget() :: else fi;
        if :: mine[me] -> settle(); expired=0; if :: holder=NOBODY; low=mlow[me]; STORE forget() :: skip fi :: else fi;
        if :: !mine[me] && holder==NOBODY -> mlow[me]=low; LOAD holder=me; mine[me]=1; mEra[me]=era; expired=0
           :: !mine[me] && holder!=NOBODY && expired -> holder=me; mine[me]=1; mEra[me]=era; expired=0
           :: else fi };
#if AHEAD
     if :: atomic { tEra==era && certEra==tEra -> theOpen();                 /* the question, or none */
        if :: aX!=0 && aX<=over -> bel=aSeq; bOpen=open & ((1<<aX)-1); cert=(bOpen==0 && aSeq>cert -> aSeq : cert)
           :: aX!=0 && aX>over && AHEAD==3 -> bel=aSeq; bOpen=open & ((1<<over)-1)
           :: else fi;
        open=0; aSeq=smp; aX=x }
     :: skip fi;
#if AHEAD==4
     atomic { theOpen() };
#endif
#endif
     atomic { if :: tEra!=era -> AGAIN known=0; smp=0; x=0; forget(); goto again :: else fi;                            /* the third: the read */
#if AHEAD
#if AHEAD!=4
        theOpen();
#endif
        alone=((aopen[me] & ~open)!=0 && AHEAD!=2);
        if :: alone -> alow[me]=mlow[me]; aopen[me]=0; kb=0; ko=0 :: else fi; open=0;
#endif
        if :: mine[me] -> readOn() :: else fi;
#if RULE==4
        }; atomic { if :: tEra!=era -> known=0; smp=0; x=0; top=0; cut=0; forget(); goto again :: else fi;
#endif
        theHorizon() HORIZON };
     atomic {                                                                /* its result has come; the commit */
        if :: RULE==3 -> known=cert :: else fi;
        if :: px!=0 && px<h && (certEra==tEra || FAIL==3) -> known=(pl>known -> pl : known); cert=(pl>cert -> pl : cert); pl=0; px=0 :: else fi;
        if :: x<h -> known=(smp>known -> smp : known); cert=((certEra==tEra || FAIL==3) && smp>cert -> smp : cert)
           :: x>=h && px==0 && certEra==tEra -> pl=smp; px=x :: else fi;
        if :: mine[me] -> to=((RULE==5 || (top<=known && cut)) -> top : known); bound=((RANGE==2 || RANGE==4 || (RANGE && top<=known)) -> top : 0) :: else fi;
#if AHEAD
        if :: kb<=known -> kb=known; ko=0 :: else fi;
        if :: mine[me] -> ato=((top<=kb && cut) -> top : kb); nopen=aopen[me]|ko; bound=((RANGE==1 && top<=kb) -> top : bound); beside=ko :: else fi;
        assert(!mine[me] || tEra!=era || !(UNREAD(0) || UNREAD(1)));
        alone=0;
#endif
        if :: tEra==era -> ENDED rx[me]=NO :: else -> forget() fi; AGAIN
        known=0; h=0; cut=0; top=0; smp=0; x=0; tEra=0 };
     if :: atomic { forget() } :: skip fi                                    /* a crash */
  od }

proctype Env() { byte i;
  do
  :: atomic { holder!=NOBODY && !expired -> expired=1 }
#if OPDEL
  :: atomic { !deleted -> deleted=1; if :: row[0]==PEND -> row[0]=OUT; told[0]=1 :: row[1]==PEND -> row[1]=OUT; told[1]=1 :: else -> deleted=0 fi }
#endif
#if FAIL
  :: atomic { copied==0 -> copied=1; do :: i<NS -> crow[i]=(row[i]==OPEN -> ABSENT : row[i]); i++ :: else -> break od; i=0; cSeq=nextSeq; cX=nextX; cLow=low; cHolder=holder }
  :: atomic { copied==1 -> copied=2; era=1; do :: i<NS -> row[i]=crow[i]; told[i]=(crow[i]==ABSENT -> 0 : told[i]); crow[i]=0; i++ :: else -> break od; i=0; nextSeq=cSeq; nextX=cX; low=cLow; LOWER holder=cHolder; cSeq=0; cX=0; cLow=0; cHolder=0;
        do :: i<W -> wx[i]=NO; i++ :: else -> break od; i=0; rx[0]=NO; rx[1]=NO }
#endif
  od }

/* no committed message below a mark that is stored or in the holder's memory, none gone that was not delivered */
#define BELOW(m) ((row[0]==PEND && 0<(m)) || (row[1]==PEND && 1<(m)) || (NS>2 && row[(2*(NS>2))]==PEND && 2<(m)) || (NS>3 && row[(3*(NS>3))]==PEND && 3<(m)))
#define LOST(n) (row[n]==OUT && !told[n])
#define HOLDS(w) (mine[w] && holder==w && (mEra[w]==era || FAIL==2))
#if AHEAD
#define ID(x) (x!=NO -> 1<<x : 0)
#define ALL_OPEN(ids) ((ids & ~(ID(wx[0])|ID(wx[(W-1)])|ID(rx[0])|ID(rx[1])))==0 || AHEAD==2)
#define PASSED (holder==NOBODY && ALL_OPEN(openA) && BELOW(lowA)) || (HOLDS(0) && ALL_OPEN(aopen[0]) && BELOW(alow[0])) || (HOLDS(1) && ALL_OPEN(aopen[1]) && BELOW(alow[1])) ||
#else
#define PASSED
#endif
proctype Watch() {
  atomic { PASSED (holder==NOBODY && BELOW(low)) || (HOLDS(0) && BELOW(mlow[0])) || (HOLDS(1) && BELOW(mlow[1])) || LOST(0) || LOST(1) || LOST((2*(NS>2))) -> assert(0) } }

init { atomic { byte w; rx[0]=NO; rx[1]=NO; do :: w<W -> wx[w]=NO; run Writer(w); w++ :: else -> break od;
  run Worker(0); run Worker(1); run Env(); run Watch() } }
